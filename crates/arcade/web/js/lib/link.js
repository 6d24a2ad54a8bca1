// A WebSocket that reconnects. If the network blocks WebSockets, an event stream replaces it.

import { absolutePath } from './route.js';
import { tabStorage } from './settings.js';

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
export const CODES = /** @type {const} */ ({ closed: 1000, replaced: 4001, expired: 4002, full: 4003, refused: 4004, unclear: 4005, removed: 4006, banned: 4007, locked: 4008, private: 4009, held: 4010, missing: 4011, used: 4012, name: 4013, played: 4014 });

/** Attempts by WebSocket without a message until the network counts as blocking them, while the hub is reachable. */
const BLOCKED = 2;

/** Whether an event stream replaces WebSockets in this tab. */
const STREAM = 'stream';

/** @type {typeof import('./stream.js').EventSocket | undefined} */
let EventSocket;

/**
 * @typedef {object} Handlers
 * @property {(data: string | ArrayBuffer) => void} message
 * @property {(state: LinkState) => void} state
 * @property {() => string} [first] The first message of each connection, with secrets that must not be in an address.
 * @typedef {{ kind: 'connecting' } | { kind: 'open' } | { kind: 'quiet' } | { kind: 'active' } | { kind: 'waiting', milliseconds: number, attempt: number, refused: boolean, blocked: boolean } | { kind: 'ended', code: number, reason: string }} LinkState
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
    /** @type {WebSocket | import('./stream.js').EventSocket | null} */
    this.socket = null;
    /** Whether the current connection has delivered a message. */
    this.served = false;
    /** Attempts by WebSocket that have delivered nothing. */
    this.unserved = 0;
    this.byStream = tabStorage.recall(STREAM) !== null;
    /** Whether the network seems to block both ways. */
    this.blocked = false;
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
    this.lastActivity = performance.now();
    this.quiet = false;
    this.served = false;
    if (!this.byStream) return this.use(new WebSocket(this.address()));
    if (EventSocket) return this.use(new EventSocket(this.address()));
    import('./stream.js').then(
      (module) => {
        ({ EventSocket } = module);
        if (!this.ended) this.use(new EventSocket(this.address()));
      },
      () => this.ended || this.retry(false),
    );
  }

  /** @param {WebSocket | import('./stream.js').EventSocket} socket */
  use(socket) {
    let opened = false;
    this.socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('open', () => {
      opened = true;
      this.noteActivity();
      const first = this.handlers.first?.();
      if (first !== undefined) socket.send(first);
      this.handlers.state({ kind: 'open' });
    });
    socket.addEventListener('message', (event) => {
      if (this.socket !== socket) return;
      const { data } = /** @type {MessageEvent} */ (event);
      this.serve();
      // The back-off is not reset by `open`: a proxy may accept sockets that it cannot forward.
      this.attempt = 0;
      this.noteActivity();
      if (data !== HEARTBEAT) this.handlers.message(data);
    });
    socket.addEventListener('close', (event) => {
      if (this.ended || this.socket !== socket) return;
      const { code, reason } = /** @type {CloseEvent} */ (event);
      if (Object.values(CODES).some((known) => known === code)) {
        this.ended = true;
        clearInterval(this.checks);
        this.handlers.state({ kind: 'ended', code, reason });
        return;
      }
      // A hub that ends may close a socket before its first message.
      this.doubt(socket, opened ? 0.5 : 1);
      this.retry(!opened);
    });
  }

  /** A message has arrived. */
  serve() {
    if (this.served) return;
    this.served = true;
    this.unserved = 0;
    this.blocked = false;
    tabStorage.remember(STREAM, this.byStream ? '' : null);
  }

  /**
   * Changes to the other kind of connection if this one has delivered nothing although the hub is reachable.
   * @param {WebSocket | import('./stream.js').EventSocket} socket
   * @param {number} weight
   */
  async doubt(socket, weight) {
    if (this.served) return;
    const { byStream } = this;
    const reachable = await fetch(absolutePath('/healthz'), { cache: 'no-store' }).then(({ ok }) => ok, () => false);
    if (!reachable || this.ended || this.served || this.byStream !== byStream) return;
    if (!byStream) {
      this.unserved += weight;
      this.byStream = this.unserved >= BLOCKED;
      return;
    }
    this.byStream = false;
    const blocked = this.unserved >= BLOCKED && !('refused' in socket && socket.refused);
    // The next failure of a WebSocket leads to a stream again.
    this.unserved = Math.max(this.unserved, BLOCKED - 1);
    if (blocked && !this.blocked) {
      this.blocked = true;
      this.handlers.state({ kind: 'waiting', milliseconds: 0, attempt: this.attempt, refused: false, blocked });
    }
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
    this.doubt(socket, BLOCKED);
    this.retry(false);
  }

  /** @param {boolean} refused Whether the last attempt did not open a socket. */
  retry(refused) {
    this.quiet = false;
    const milliseconds = PAUSES[Math.min(this.attempt, PAUSES.length - 1)];
    this.attempt += 1;
    this.handlers.state({ kind: 'waiting', milliseconds, attempt: this.attempt, refused, blocked: this.blocked });
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
