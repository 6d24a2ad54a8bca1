// A WebSocket that reconnects.

import { absolutePath } from './route.js';

/** Back-off before reconnecting, in milliseconds; the last value is repeated. */
const PAUSES = [250, 500, 1000, 2000, 5000, 10000];

/** Milliseconds without a message until the link is quiet. The hub sends one every second or two. */
const QUIET = 3000;

/** Milliseconds without a message, or an open socket, until it reconnects. */
const DEAD = 10000;

/** Check interval for silence, in milliseconds. */
const CHECK = 500;

/** Heartbeat of the hub; see web/keepalive.rs. */
const HEARTBEAT = '{}';

/** Close code that frees the seat of a player who leaves; see web/socket.rs. */
export const LEFT = 4000;

/** Close codes of the hub after which the link does not reconnect; see web/socket.rs. */
export const CODES = /** @type {const} */ ({ closed: 1000, replaced: 4001, expired: 4002, full: 4003, refused: 4004, unclear: 4005, removed: 4006, banned: 4007, locked: 4008, private: 4009, held: 4010, missing: 4011, used: 4012 });

/**
 * @typedef {object} Handlers
 * @property {(data: string | ArrayBuffer) => void} message
 * @property {(state: LinkState) => void} state
 * @property {() => string} [first] The first message of each connection, with secrets that must not be in an address.
 * @typedef {{ kind: 'connecting' } | { kind: 'open' } | { kind: 'quiet' } | { kind: 'active' } | { kind: 'waiting', milliseconds: number, attempt: number, refused: boolean } | { kind: 'ended', code: number, reason: string }} LinkState
 */

export class Link {
  /**
   * @param {() => string} address Of the socket; called before each attempt.
   * @param {Handlers} handlers
   */
  constructor(address, handlers) {
    this.address = address;
    this.handlers = handlers;
    this.attempt = 0;
    this.ended = false;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** When the last message arrived, or the attempt started; by `performance.now()`. */
    this.lastActivity = 0;
    this.quiet = false;
    /** The time of the last check. */
    this.checkedAt = performance.now();
    /** The value of `lastActivity` when a check found that the page had been suspended. */
    this.beforeSuspension = -1;
    this.checks = setInterval(() => this.checkSilence(), CHECK);
    this.online = () => this.reconnect();
    this.offline = () => this.drop();
    addEventListener('online', this.online);
    addEventListener('offline', this.offline);
    this.connect();
  }

  /** Reconnects without waiting, because the network is back. */
  reconnect() {
    if (this.ended || this.timer === undefined) return;
    clearTimeout(this.timer);
    this.connect();
  }

  connect() {
    this.timer = undefined;
    this.handlers.state({ kind: 'connecting' });
    const socket = new WebSocket(this.address());
    let opened = false;
    this.socket = socket;
    this.lastActivity = performance.now();
    this.quiet = false;
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('open', () => {
      opened = true;
      this.noteActivity();
      const first = this.handlers.first?.();
      if (first !== undefined) socket.send(first);
      this.handlers.state({ kind: 'open' });
    });
    socket.addEventListener('message', ({ data }) => {
      if (this.socket !== socket) return;
      // The back-off is not reset by `open`: a proxy may accept sockets that it cannot forward.
      this.attempt = 0;
      this.noteActivity();
      if (data !== HEARTBEAT) this.handlers.message(data);
    });
    socket.addEventListener('close', ({ code, reason }) => {
      if (this.ended || this.socket !== socket) return;
      if (Object.values(CODES).some((known) => known === code)) {
        this.ended = true;
        clearInterval(this.checks);
        this.handlers.state({ kind: 'ended', code, reason });
        return;
      }
      this.retry(!opened);
    });
  }

  /** The socket has opened or a message has arrived. */
  noteActivity() {
    this.lastActivity = performance.now();
    if (!this.quiet) return;
    this.quiet = false;
    this.handlers.state({ kind: 'active' });
  }

  checkSilence() {
    const now = performance.now();
    const slept = now - this.checkedAt > 2 * CHECK;
    this.checkedAt = now;
    if (this.timer !== undefined) return;
    // After a suspension timers run before the messages that have arrived, so silence counts from the second check on. Timers of a hidden
    // tab are always late.
    if (slept && this.beforeSuspension !== this.lastActivity) {
      this.beforeSuspension = this.lastActivity;
      return;
    }
    const silent = now - this.lastActivity;
    if (silent > DEAD) return this.drop();
    if (silent < QUIET || this.quiet || this.socket?.readyState !== WebSocket.OPEN) return;
    this.quiet = true;
    this.handlers.state({ kind: 'quiet' });
  }

  /** The socket itself may report a dead network much later. */
  drop() {
    const { socket } = this;
    if (this.ended || socket === null) return;
    this.socket = null;
    socket.close();
    this.retry(false);
  }

  /** @param {boolean} refused Whether the last attempt did not open a socket. */
  retry(refused) {
    this.quiet = false;
    const milliseconds = PAUSES[Math.min(this.attempt, PAUSES.length - 1)];
    this.attempt += 1;
    this.handlers.state({ kind: 'waiting', milliseconds, attempt: this.attempt, refused });
    // The handler may have closed the link.
    if (this.ended) return;
    this.timer = setTimeout(() => this.connect(), milliseconds);
  }

  /** @param {string | Uint8Array<ArrayBuffer>} data Dropped if the socket is not open, since late input is stale. */
  send(data) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(data);
  }

  /**
   * Closes the link permanently.
   * @param {number} [code]
   */
  close(code = 1000) {
    this.ended = true;
    clearTimeout(this.timer);
    clearInterval(this.checks);
    removeEventListener('online', this.online);
    removeEventListener('offline', this.offline);
    this.socket?.close(code);
  }
}

/**
 * @param {string} path
 * @param {Record<string, string>} [query]
 */
export function socketAddress(path, query = {}) {
  const address = new URL(absolutePath(path), location.href);
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  address.hash = '';
  address.search = new URLSearchParams(query).toString();
  return address.toString();
}
