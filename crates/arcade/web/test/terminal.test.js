import assert from 'node:assert/strict';
import { test } from 'node:test';

import { reachesPorts } from '../js/page/words.js';

test('offers joining from a terminal only if the ports of rooms are reachable', () => {
  for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]']) assert.ok(reachesPorts('here', host), host);
  for (const host of ['play.example.org', '192.0.2.7', '[2001:db8::1]', 'localhost.evil.example']) {
    assert.ok(!reachesPorts('here', host), host);
    assert.ok(reachesPorts('open', host), host);
  }
});
