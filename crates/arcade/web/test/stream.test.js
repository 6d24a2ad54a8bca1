import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { EventSocket } from '../js/lib/stream.js';

Object.assign(globalThis, { WebSocket: { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 } });

/**
 * A hub whose stream opens, and which answers POSTs as the test demands.
 * @param {(post: { first: number, frames: unknown[] }, number: number) => object | null} answer The response; null if it is lost.
 */
function connect(answer) {
  /** @type {ReadableStreamDefaultController<Uint8Array>} */
  let stream;
  /** @type {{ first: number, frames: unknown[] }[]} */
  const posts = [];
  /** @param {string} text */
  const event = (text) => stream.enqueue(new TextEncoder().encode(text));
  mock.method(globalThis, 'fetch', async (/** @type {string} */ address, /** @type {RequestInit} */ { body, headers }) => {
    if (body === undefined) {
      assert.equal(address, 'http://localhost/live');
      const events = new ReadableStream({ start: (controller) => void (stream = controller) });
      event('event: open\ndata: "name"\n\n');
      return new Response(events, { headers: { 'content-type': 'text/event-stream' } });
    }
    assert.equal(new Headers(headers).get('arcade-stream'), 'name');
    const post = JSON.parse(String(body));
    posts.push(post);
    const answered = answer(post, posts.length);
    if (!answered) throw new TypeError();
    return Response.json(answered);
  });
  const socket = new EventSocket('ws://localhost/live');
  /** @param {string} name */
  const happens = (name) => new Promise((resolve) => socket.addEventListener(name, resolve, { once: true }));
  return { socket, posts, event, happens };
}

test('repeats frames until the hub has them', async () => {
  const taken = new Map();
  const { socket, posts, event, happens } = connect(({ first, frames }, number) => {
    if (number === 1) return null;
    // Takes one frame at a time, and loses the response once.
    taken.set(first, frames[0]);
    return number === 3 ? null : { next: first + (frames.length > 0 ? 1 : 0) };
  });
  await happens('open');
  socket.send('one');
  socket.send(new Uint8Array([0, 255]));
  socket.send('three');
  while (socket.frames.length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual([...taken.values()], ['one', { binary: 'AP8=' }, 'three']);
  assert.deepEqual(posts.map(({ first }) => first), [0, 0, 1, 1, 2]);
  const message = happens('message');
  // A piece may end anywhere.
  event('data: "a\\n');
  event('b"\n\nevent: binary\ndata: "AP8="\n');
  event('\n');
  assert.equal((await message).data, 'a\nb');
  assert.deepEqual([...new Uint8Array((await happens('message')).data)], [0, 255]);
  const close = happens('close');
  event('event: close\ndata: {"code":4001,"reason":"why"}\n\n');
  const { code, reason } = await close;
  assert.deepEqual([code, reason, socket.readyState], [4001, 'why', 3]);
  mock.restoreAll();
});

test('answers pings, and ends after failed POSTs', async () => {
  let answers = true;
  const { socket, posts, event, happens } = connect(() => (answers ? { next: 0 } : null));
  await happens('open');
  event('event: ping\ndata: ""\n\n');
  while (posts.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(posts, [{ first: 0, frames: [] }]);
  answers = false;
  const close = happens('close');
  socket.send('lost');
  assert.equal((await close).code, 1006);
  mock.restoreAll();
});

test('leaves the seat with a last frame', async () => {
  const { socket, posts, happens } = connect(({ first, frames }) => ({ next: first + frames.length }));
  await happens('open');
  const close = happens('close');
  socket.close(4000);
  await close;
  assert.deepEqual(posts, [{ first: 0, frames: [{ close: 4000 }] }]);
  mock.restoreAll();
});
