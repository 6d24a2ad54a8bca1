// A proxy that blocks WebSockets, as in some schools, and optionally event streams.

import { createServer, request } from 'node:http';

export class Blocker {
  /** @param {number} port Of the hub. */
  constructor(port) {
    this.streams = true;
    this.server = createServer((near, answer) => {
      if (!this.streams && 'arcade-stream' in near.headers) {
        answer.writeHead(403, { 'content-type': 'text/html' }).end('<h1>Access denied</h1>');
        return;
      }
      const { method, url, headers } = near;
      const far = request({ host: '127.0.0.1', port, ...(method && { method }), path: url, headers, agent: false }, (from) => {
        answer.writeHead(from.statusCode ?? 502, from.headers);
        from.pipe(answer);
        from.on('error', () => answer.destroy());
      });
      far.on('error', () => answer.destroy());
      answer.on('close', () => far.destroy());
      near.pipe(far);
    });
    this.server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'));
  }

  /** @param {number} port */
  static async start(port) {
    const blocker = new Blocker(port);
    await new Promise((resolve) => blocker.server.listen(0, '127.0.0.1', () => resolve(undefined)));
    return blocker;
  }

  get address() {
    const address = /** @type {import('node:net').AddressInfo} */ (this.server.address());
    return `http://localhost:${address.port}`;
  }

  stop() {
    this.server.close();
    this.server.closeAllConnections();
  }
}
