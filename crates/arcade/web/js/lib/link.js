// A WebSocket that comes back by itself.

/** Pauses before another attempt, in milliseconds; the last one is repeated. */
const PAUSES = [250, 500, 1000, 2000, 5000, 10000];

/** Milliseconds without a message after which the page says so. The hub sends something every second or two. */
const QUIET = 3000;

/** Milliseconds without a message, or without an open socket, after which the network is taken for dead. */
const DEAD = 10000;

/** How often the page looks for that, in milliseconds. */
const LOOK = 500;

/** What the hub sends when it has nothing to say; see web/pump.rs. */
const BEAT = '{}';

/** The close code by which a player leaves for good, so that the seat is free at once; see web/pump.rs. */
export const LEFT = 4000;

/** Close codes after which there is nothing to come back to. The hub sends them; see web/pump.rs. */
export const CODES = /** @type {const} */ ({ closed: 1000, replaced: 4001, expired: 4002, full: 4003, refused: 4004, unclear: 4005, removed: 4006, banned: 4007, locked: 4008, private: 4009, held: 4010, missing: 4011 });

/**
 * @typedef {object} Handlers
 * @property {(data: string | ArrayBuffer) => void} message
 * @property {(state: LinkState) => void} state
 * @property {() => string} [first] The first message of each connection, which has what does not belong into an address.
 * @typedef {{ kind: 'connecting' } | { kind: 'open' } | { kind: 'quiet' } | { kind: 'heard' } | { kind: 'waiting', milliseconds: number, attempt: number, refused: boolean } | { kind: 'ended', code: number, reason: string }} LinkState
 */

/** Keeps one socket open. */
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
    /** When something was last heard of the hub, or the present attempt began; by `performance.now()`. */
    this.heard = 0;
    /** Whether the page was told that nothing is heard. */
    this.quiet = false;
    /** When the page looked for that last. */
    this.looked = performance.now();
    /** What `heard` was when the page found that it had not run for a while. */
    this.doubted = -1;
    this.looks = setInterval(() => this.look(), LOOK);
    this.online = () => this.hurry();
    this.offline = () => this.lose();
    addEventListener('online', this.online);
    addEventListener('offline', this.offline);
    this.connect();
  }

  /** The network is back: there is no reason to wait any longer. */
  hurry() {
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
    this.heard = performance.now();
    this.quiet = false;
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('open', () => {
      opened = true;
      this.hear();
      const first = this.handlers.first?.();
      if (first !== undefined) socket.send(first);
      this.handlers.state({ kind: 'open' });
    });
    socket.addEventListener('message', ({ data }) => {
      if (this.socket !== socket) return;
      // The backoff is reset by the first message, not by `open`: a proxy may accept sockets that it cannot forward.
      this.attempt = 0;
      this.hear();
      if (data !== BEAT) this.handlers.message(data);
    });
    socket.addEventListener('close', ({ code, reason }) => {
      if (this.ended || this.socket !== socket) return;
      if (Object.values(CODES).some((known) => known === code)) {
        this.ended = true;
        clearInterval(this.looks);
        this.handlers.state({ kind: 'ended', code, reason });
        return;
      }
      this.retry(!opened);
    });
  }

  /** Something was heard of the hub: the network is not dead. */
  hear() {
    this.heard = performance.now();
    if (!this.quiet) return;
    this.quiet = false;
    this.handlers.state({ kind: 'heard' });
  }

  /** Looks whether something was heard lately. */
  look() {
    const now = performance.now();
    const slept = now - this.looked > 2 * LOOK;
    this.looked = now;
    if (this.timer !== undefined) return;
    // After a suspension timers run before the messages that arrived meanwhile, so silence counts from the second look on. Timers of a hidden
    // tab are always late.
    if (slept && this.doubted !== this.heard) {
      this.doubted = this.heard;
      return;
    }
    const silent = now - this.heard;
    if (silent > DEAD) return this.lose();
    if (silent < QUIET || this.quiet || this.socket?.readyState !== WebSocket.OPEN) return;
    this.quiet = true;
    this.handlers.state({ kind: 'quiet' });
  }

  /** The network is dead. The socket may notice that much later. */
  lose() {
    const { socket } = this;
    if (this.ended || socket === null) return;
    this.socket = null;
    socket.close();
    this.retry(false);
  }

  /** @param {boolean} refused Whether the last attempt did not even begin. */
  retry(refused) {
    this.quiet = false;
    const milliseconds = PAUSES[Math.min(this.attempt, PAUSES.length - 1)];
    this.attempt += 1;
    this.handlers.state({ kind: 'waiting', milliseconds, attempt: this.attempt, refused });
    // The answer may have been to give up.
    if (this.ended) return;
    this.timer = setTimeout(() => this.connect(), milliseconds);
  }

  /** @param {string | Uint8Array<ArrayBuffer>} data Dropped if the socket is not open, since late input is stale. */
  send(data) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(data);
  }

  /**
   * Ends it for good.
   * @param {number} [code]
   */
  close(code = 1000) {
    this.ended = true;
    clearTimeout(this.timer);
    clearInterval(this.looks);
    removeEventListener('online', this.online);
    removeEventListener('offline', this.offline);
    this.socket?.close(code);
  }
}

/**
 * The address of a socket of this hub.
 * @param {string} path
 * @param {Record<string, string>} [query]
 */
export function socketAddress(path, query = {}) {
  const address = new URL(path, location.href);
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  address.hash = '';
  address.search = new URLSearchParams(query).toString();
  return address.toString();
}
