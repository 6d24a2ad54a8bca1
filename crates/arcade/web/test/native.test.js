// The native client of the browser tests with lost datagrams.

import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';

import { nuggets } from './browser/support/native.js';

const WELCOME = ['OK A', 'GRID 3 5', 'GOLD 0 0 250', 'DISPLAY\n+---+\n|.@.|\n+---+\n'];

/**
 * Serves a client, and passes its keys to `key` with a function that sends a response.
 * @param {(key: string, answer: (text: string) => void) => void} key
 */
async function serve(key) {
  const server = createSocket('udp4').bind(0, '127.0.0.1');
  await once(server, 'listening');
  server.on('message', (bytes, { port }) => {
    const answer = (/** @type {string} */ text) => server.send(text, port, '127.0.0.1');
    const [kind, what] = bytes.toString().split(' ');
    if (kind === 'PLAY') WELCOME.forEach(answer);
    else key(what, answer);
  });
  return server;
}

test('a late QUIT ends a client', async () => {
  let asked = 0;
  const server = await serve((key, answer) => {
    if (key !== '?') return;
    asked += 1;
    answer(asked < 40 ? 'ERROR unknown keystroke' : 'QUIT GAME OVER:\nA        250 Bob');
  });
  const { over } = nuggets(server.address().port, 'Bob', { again: 5 });
  assert.equal(await over, 'GAME OVER:\nA        250 Bob');
  server.close();
});

test('losing a seat without a QUIT is a fault of the server', async () => {
  const server = await serve(() => {});
  const { over } = nuggets(server.address().port, 'Bob', { again: 5 });
  await assert.rejects(over, /Bob has lost the server without a QUIT/);
  server.close();
});

test('a QUIT that the system has dropped is not a fault', async () => {
  let full = false;
  const server = await serve((_, answer) => {
    if (full) return;
    full = true;
    // More datagrams than the buffer holds; the QUIT follows them.
    for (let sent = 0; sent < 2000; sent += 1) answer('ERROR this is as long as they are');
    answer('QUIT GAME OVER:\nA        250 Bob');
  });
  const { over } = nuggets(server.address().port, 'Bob', { again: 5 });
  assert.equal(await over, null);
  server.close();
});
