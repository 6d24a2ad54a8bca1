// A network between a page and its hub that can be cut, go silent or be slow.

import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Passes connections on to a hub until it is told otherwise. */
export class Relay {
  /** @param {number} port Of the hub. */
  constructor(port) {
    /** @type {Set<import('node:net').Socket>} */
    this.sockets = new Set();
    /** What becomes of bytes: they are passed on, they vanish, or there is no connection at all. @type {'open' | 'silent' | 'cut'} */
    this.state = 'open';
    /** Milliseconds that bytes take to either side. */
    this.delay = 0;
    this.server = createServer((near) => {
      if (this.state === 'cut') return near.destroy();
      const far = connect(port, '127.0.0.1');
      for (const [from, to] of [[near, far], [far, near]]) {
        this.sockets.add(from);
        from.setNoDelay();
        from.on('data', async (data) => {
          // In order, since timers of the same length are.
          if (this.delay > 0) await pause(this.delay);
          if (this.state === 'open' && !to.destroyed) to.write(data);
        });
        from.on('error', () => {});
        from.on('close', () => {
          this.sockets.delete(from);
          if (this.state !== 'silent') to.destroy();
        });
      }
      return undefined;
    });
  }

  /** @param {number} port */
  static async start(port) {
    const relay = new Relay(port);
    await new Promise((resolve) => relay.server.listen(0, '127.0.0.1', () => resolve(undefined)));
    return relay;
  }

  get address() {
    const address = /** @type {import('node:net').AddressInfo} */ (this.server.address());
    return `http://localhost:${address.port}`;
  }

  /** Ends all connections, and has new ones fail. */
  cut() {
    this.state = 'cut';
    for (const socket of this.sockets) socket.destroy();
  }

  /** Nothing arrives any more, and nobody is told. */
  silence() {
    this.state = 'silent';
  }

  /** New connections work again. What was silent stays lost. */
  mend() {
    const silent = this.state === 'silent' ? [...this.sockets] : [];
    this.state = 'open';
    // Bytes are missing on them.
    for (const socket of silent) socket.destroy();
  }

  stop() {
    this.cut();
    this.server.close();
  }
}
