import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

/** A socket under the control of the test. */
class Socket extends EventTarget {
  static OPEN = 1;
  /** @type {Socket[]} */
  static all = [];
  readyState = 0;
  closed = false;
  /** @type {string[]} */
  sent = [];
  /** @param {string} address */
  constructor(address) {
    super();
    this.address = address;
    Socket.all.push(this);
  }
  open() {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
  }
  /** @param {string} data */
  receive(data) {
    this.dispatchEvent(Object.assign(new Event('message'), { data }));
  }
  /** @param {string} data */
  send(data) {
    this.sent.push(data);
  }
  close() {
    this.closed = true;
  }
}

test('detects a dead network and reconnects', async () => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  let clock = 0;
  mock.method(performance, 'now', () => clock);
  /** @param {number} milliseconds */
  const pass = (milliseconds) => {
    for (const end = clock + milliseconds; clock < end; ) {
      const step = Math.min(250, end - clock);
      clock += step;
      mock.timers.tick(step);
    }
  };
  const network = new EventTarget();
  Object.assign(globalThis, {
    WebSocket: Socket,
    addEventListener: network.addEventListener.bind(network),
    removeEventListener: network.removeEventListener.bind(network),
  });
  const { Link } = await import('../js/lib/link.js');
  /** @type {string[]} */
  const events = [];
  const link = new Link(() => '/socket', {
    message: (data) => events.push(String(data)),
    state: ({ kind }) => events.push(kind),
    first: () => `first ${Socket.all.length}`,
  });
  const [first] = Socket.all;
  first.open();
  first.receive('{"room":1}');
  for (let beat = 0; beat < 50; beat += 1) {
    pass(2_000);
    first.receive('{}');
  }
  assert.deepEqual(events, ['connecting', 'open', '{"room":1}'], 'it is connected, and a beat is no message');
  pass(3_500);
  assert.equal(events.at(-1), 'quiet', 'silence is reported after three seconds');
  first.receive('{}');
  assert.equal(events.at(-1), 'active');
  assert.equal(Socket.all.length, 1, 'the network was only slow');
  // The page was suspended: messages from that time arrive after its check.
  clock += 20_000;
  mock.timers.tick(500);
  assert.deepEqual([events.at(-1), first.closed], ['active', false], 'messages that arrived during a suspension are handled before silence is counted');
  first.receive('{}');
  for (const seen of ['active', 'quiet']) {
    clock += 5_000;
    mock.timers.tick(500);
    assert.equal(events.at(-1), seen, 'a hidden tab, whose timers are always late, detects silence too');
  }
  first.receive('{}');
  pass(10_000);
  assert.ok(!first.closed);
  pass(500);
  assert.ok(first.closed);
  assert.equal(events.at(-1), 'waiting');
  first.receive('late');
  first.dispatchEvent(Object.assign(new Event('close'), { code: 1006, reason: '' }));
  assert.equal(events.at(-1), 'waiting', 'a dropped socket has no effect');
  pass(250);
  const second = Socket.all[1];
  second.open();
  assert.equal(events.at(-1), 'open');
  network.dispatchEvent(new Event('offline'));
  assert.equal(events.at(-1), 'waiting', 'the system may report the loss immediately');
  pass(500);
  assert.equal(events.at(-1), 'connecting');
  pass(11_000);
  assert.ok(Socket.all[2].closed, 'a network that swallows the attempt is dead too');
  const attempts = Socket.all.length;
  assert.deepEqual([first.sent, second.sent], [['first 1'], ['first 2']], 'each connection sends the credentials');
  link.close();
  pass(60_000);
  assert.equal(Socket.all.length, attempts);
  mock.timers.reset();
  mock.restoreAll();
});

test('uses an event stream where the network blocks WebSockets', async () => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  mock.method(performance, 'now', () => 0);
  const network = new EventTarget();
  Object.assign(globalThis, {
    WebSocket: Object.assign(Socket, { CONNECTING: 0, CLOSING: 2, CLOSED: 3 }),
    addEventListener: network.addEventListener.bind(network),
    removeEventListener: network.removeEventListener.bind(network),
  });
  let reachable = false;
  let streams = false;
  let opened = 0;
  mock.method(globalThis, 'fetch', async (/** @type {string} */ address) => {
    if (address === '/healthz') return new Response('', { status: reachable ? 200 : 502 });
    opened += 1;
    if (!streams) return new Response('<h1>Access denied</h1>', { status: 403 });
    const events = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('event: open\ndata: "name"\n\ndata: "one"\n\n')) });
    return new Response(events, { headers: { 'content-type': 'text/event-stream' } });
  });
  const { Link } = await import('../js/lib/link.js');
  /** @type {import('../js/lib/link.js').LinkState[]} */
  const states = [];
  /** @type {string[]} */
  const messages = [];
  const handlers = { message: (/** @type {string | ArrayBuffer} */ data) => messages.push(String(data)), state: (/** @type {import('../js/lib/link.js').LinkState} */ state) => states.push(state) };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const link = new Link(() => 'ws://localhost/live', handlers);
  const attempt = async () => {
    const before = Socket.all.length + opened;
    Socket.all.at(-1)?.dispatchEvent(Object.assign(new Event('close'), { code: 1006, reason: '' }));
    for (let turn = 0; turn < 20; turn += 1) await settle();
    mock.timers.tick(10_000);
    while (Socket.all.length + opened === before) await settle();
    for (let turn = 0; turn < 20; turn += 1) await settle();
  };
  for (let attempts = 0; attempts < 5; attempts += 1) await attempt();
  assert.equal(opened, 0, 'the hub is away');
  reachable = true;
  for (let attempts = 0; attempts < 3; attempts += 1) await attempt();
  assert.equal(opened, 1, 'after two failures');
  assert.ok(states.some((state) => state.kind === 'waiting' && state.blocked), 'both are blocked');
  streams = true;
  while (messages.length === 0) await attempt();
  assert.deepEqual([messages, opened, states.at(-1)?.kind], [['one'], 2, 'open']);
  link.close();
  const sockets = Socket.all.length;
  const next = new Link(() => 'ws://localhost/live', handlers);
  while (messages.length < 2) await settle();
  assert.equal(Socket.all.length, sockets, 'the tab remembers it');
  next.close();
  mock.timers.reset();
  mock.restoreAll();
});
