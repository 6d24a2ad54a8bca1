import assert from 'node:assert/strict';
import { test } from 'node:test';

const body = { dataset: { rooms: 'open' } };
const documentElement = { dataset: { public: 'http://play.example.org/games/' } };
Object.defineProperty(globalThis, 'document', { value: { body, documentElement } });
Object.defineProperty(globalThis, 'navigator', { value: { languages: [] } });
Object.defineProperty(globalThis, 'location', { value: new URL('http://127.0.0.1:8080/rooms/robots-1') });

const { joinCommand, reachesPorts } = await import('../js/page/labels.js');

test('commands have the host of the public URL', () => {
  /** @type {import('../js/games/types.js').Room} */
  const room = { id: 'robots-1', game: 'robots', title: '', phase: 'lobby', taken: 0, seats: 2, port: 2100, players: [] };
  assert.match(joinCommand(room), / play\.example\.org:2100 /);
  const directory = / node-1:2100 .*--directory http:\/\/play\.example\.org\/games\/rooms\/robots-1$/;
  assert.match(joinCommand({ ...room, host: 'node-1' }), directory);
  body.dataset.rooms = 'here';
  assert.match(joinCommand(room), / 127\.0\.0\.1:2100 /);
});

test('offers joining from a terminal only if the ports of rooms are reachable', () => {
  for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]']) assert.ok(reachesPorts('here', host), host);
  for (const host of ['play.example.org', '192.0.2.7', '[2001:db8::1]', 'localhost.evil.example']) {
    assert.ok(!reachesPorts('here', host), host);
    assert.ok(reachesPorts('open', host), host);
  }
});
