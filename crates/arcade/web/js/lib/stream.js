// A replacement of WebSocket for networks that block it: an event stream, and POSTs with frames; see web/event_stream.rs.

import { absolutePath } from './route.js';

const HEADER = 'arcade-stream';

/** Milliseconds between POSTs, and before a failed one is repeated. */
const PAUSE = 50;
const AGAIN = 500;

/** Failed POSTs in a row until the connection is lost. */
const MAX_FAILURES = 5;

/** Characters of frames in a POST; the hub accepts 16 kB. */
const MAX_POST = 8000;

/** Milliseconds that a POST may take. */
const LATE = 10_000;

/** @typedef {string | { binary: string } | { close: number }} Frame */

export class EventSocket extends EventTarget {
  /** @param {string} address Of the WebSocket. */
  constructor(address) {
    super();
    this.address = address.replace(/^ws/, 'http');
    /** As of a WebSocket. @type {number} */
    this.readyState = WebSocket.CONNECTING;
    this.binaryType = 'arraybuffer';
    /** Whether the hub has rejected the stream, so the network did not. */
    this.refused = false;
    this.name = '';
    /** Frames that the hub does not have yet. @type {Frame[]} */
    this.frames = [];
    /** The number of the first of them. */
    this.first = 0;
    this.failures = 0;
    /** Whether a POST is in flight or follows soon. */
    this.posting = false;
    this.aborter = new AbortController();
    this.read();
  }

  async read() {
    try {
      const answer = await fetch(this.address, { headers: { [HEADER]: 'open' }, cache: 'no-store', signal: this.aborter.signal });
      if (!answer.headers.get('content-type')?.startsWith('text/event-stream') || !answer.ok || !answer.body) {
        this.refused = typeof (await answer.json())?.code === 'string';
        return this.end();
      }
      const reader = answer.body.getReader();
      const decoder = new TextDecoder();
      let text = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const events = (text + decoder.decode(value, { stream: true })).split('\n\n');
        text = /** @type {string} */ (events.pop());
        for (const event of events) this.take(event);
      }
    } catch {
      // The connection is lost, or was closed here.
    }
    this.end();
  }

  /** @param {string} event */
  take(event) {
    const [, kind = 'message', json = ''] = /^(?:event: (.*)\n)?data: (.*)$/.exec(event) ?? [];
    if (!json || this.readyState === WebSocket.CLOSED) return;
    const data = JSON.parse(json);
    if (kind === 'open') {
      this.name = data;
      this.readyState = WebSocket.OPEN;
      this.dispatchEvent(new Event('open'));
    } else if (kind === 'close') this.end(data);
    else if (kind === 'ping') this.post(true);
    else if (kind === 'binary') this.tell(Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)).buffer);
    else this.tell(data);
  }

  /** @param {string | ArrayBuffer} data */
  tell(data) {
    this.dispatchEvent(Object.assign(new Event('message'), { data }));
  }

  /** @param {string | Uint8Array} data */
  send(data) {
    this.frames.push(typeof data === 'string' ? data : { binary: btoa(String.fromCharCode(...data)) });
    this.post();
  }

  /**
   * One POST at a time, so that frames stay in order.
   * @param {boolean} [answers] Whether the hub expects a POST.
   */
  async post(answers = false) {
    if (this.posting) return;
    this.posting = true;
    while ((answers || this.frames.length > 0) && this.readyState !== WebSocket.CLOSED) {
      answers = false;
      const pause = (await this.postOnce()) ? PAUSE : AGAIN;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    this.posting = false;
  }

  /** Returns whether the hub has taken frames. */
  async postOnce() {
    let length = 0;
    const frames = this.frames.filter((frame, number) => (length += JSON.stringify(frame).length) <= MAX_POST || number === 0);
    try {
      const answer = await fetch(absolutePath('/frames'), {
        method: 'POST',
        headers: { 'content-type': 'application/json', [HEADER]: this.name },
        body: JSON.stringify({ first: this.first, frames }),
        // Also sent if the page is left.
        keepalive: true,
        signal: AbortSignal.timeout(LATE),
      });
      if (answer.ok) {
        const { next } = await answer.json();
        const taken = next - this.first;
        // Otherwise it is not a response of the hub.
        if (taken >= 0 && taken <= this.frames.length) {
          this.frames.splice(0, taken);
          this.first = next;
          this.failures = 0;
          return taken > 0 || frames.length === 0;
        }
      } else if (answer.status === 404) this.end();
    } catch {
      // Repeated.
    }
    this.failures += 1;
    if (this.failures >= MAX_FAILURES) this.end();
    return false;
  }

  /** @param {number} [code] Sent to the hub. */
  async close(code) {
    if (code !== undefined && this.readyState === WebSocket.OPEN) {
      this.frames.push({ close: code });
      this.readyState = WebSocket.CLOSING;
      // Not after the POST in flight: the page may be left.
      await this.postOnce();
    }
    this.end();
  }

  /** @param {{ code: number, reason: string }} [close] */
  end(close = { code: 1006, reason: '' }) {
    if (this.readyState === WebSocket.CLOSED) return;
    this.readyState = WebSocket.CLOSED;
    this.aborter.abort();
    this.dispatchEvent(Object.assign(new Event('close'), close));
  }
}
