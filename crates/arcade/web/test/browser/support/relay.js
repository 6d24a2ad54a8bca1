// A TCP relay between a page and its hub, which can be cut, silent or slow.

import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export class Relay {
  /** @param {number} port Of the hub. */
  constructor(port) {
    /** @type {Set<import('node:net').Socket>} */
    this.sockets = new Set();
    /** Whether bytes are forwarded or dropped, or connections closed. @type {'open' | 'silent' | 'cut'} */
    this.state = 'open';
    /** Delay in each direction, in milliseconds. */
    this.delay = 0;
    this.server = createServer((near) => {
      if (this.state === 'cut') return near.destroy();
      const far = connect(port, '127.0.0.1');
      for (const [from, to] of [[near, far], [far, near]]) {
        this.sockets.add(from);
        from.setNoDelay();
        from.on('data', async (data) => {
          // Timers of equal length keep the order.
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

  cut() {
    this.state = 'cut';
    for (const socket of this.sockets) socket.destroy();
  }

  /** Drops bytes without closing connections. */
  silence() {
    this.state = 'silent';
  }

  /** Accepts connections again. Silent ones are closed. */
  mend() {
    const silent = this.state === 'silent' ? [...this.sockets] : [];
    this.state = 'open';
    // These connections have lost bytes.
    for (const socket of silent) socket.destroy();
  }

  stop() {
    this.cut();
    this.server.close();
  }
}
