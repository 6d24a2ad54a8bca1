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
