// Finds leaks of open pages: `npm run growth [MINUTES]`, ten by default. Prints the memory of each page after a
// garbage collection, and fails if it or the number of nodes keeps growing.

import { launch, Person } from './support/browser.js';
import { Hub } from './support/hub.js';
import * as native from './support/native.js';

const minutes = Number(process.argv[2] ?? 10);
/** Samples, evenly spread over the time. */
const LOOKS = 20;
/** Allowed growth from the second third to the last. */
const SLACK = 1.1;

const hub = await Hub.start();
const browser = await launch();
let grown = false;
try {
  const turns = Math.min(65_535, minutes * 600 + 100);
  const robots = await hub.open({ game: 'robots', players: 2, turns, turn_duration: 100, columns: 16, rows: 12 });
  const nuggets = await hub.open({ game: 'nuggets', map: 'main', countdown: 2 });
  const blackjack = await hub.open({ game: 'blackjack', players: 2, rounds: 10_000 });
  for (const [{ id, owner_token: owner }, bots] of /** @type {[import('./support/hub.js').Room, number][]} */ ([
    [robots, 1],
    [nuggets, 3],
    [blackjack, 1],
  ])) {
    for (let bot = 0; bot < bots; bot += 1) {
      const body = JSON.stringify({ level: 'easy', owner });
      const answer = await fetch(`${hub.address}/api/rooms/${id}/bots`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      if (!answer.ok) throw new Error(await answer.text());
    }
  }
  native.blackjack(blackjack.port, 'Bob');
  const pages = [
    ['lobby', '/'],
    ['robots, playing', `/rooms/${robots.id}`],
    ['nuggets, watching', `/rooms/${nuggets.id}?watch`],
    ['blackjack, watching', `/rooms/${blackjack.id}?watch`],
  ];
  const watched = [];
  for (const [name, path] of pages) {
    const person = await Person.come(browser, hub.address, name.includes('playing') ? 'Ann' : '');
    await person.go(path);
    const devtools = await person.page.context().newCDPSession(person.page);
    await devtools.send('Performance.enable');
    watched.push({ name, person, devtools, heap: /** @type {number[]} */ ([]), nodes: /** @type {number[]} */ ([]) });
  }
  for (let look = 0; look < LOOKS; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, (minutes * 60_000) / LOOKS));
    for (const { devtools, heap, nodes } of watched) {
      await devtools.send('HeapProfiler.collectGarbage');
      const { metrics } = await devtools.send('Performance.getMetrics');
      const value = (/** @type {string} */ name) => metrics.find((one) => one.name === name)?.value ?? NaN;
      heap.push(value('JSHeapUsedSize'));
      nodes.push(value('Nodes'));
    }
  }
  /** @param {number[]} values */
  const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
  const third = Math.floor(LOOKS / 3);
  for (const { name, person, heap, nodes } of watched) {
    const [heapBefore, heapAfter] = [median(heap.slice(third, -third)), median(heap.slice(-third))];
    const [nodesBefore, nodesAfter] = [median(nodes.slice(third, -third)), median(nodes.slice(-third))];
    const worse = heapAfter > heapBefore * SLACK || nodesAfter > nodesBefore * SLACK;
    grown ||= worse;
    const mib = (/** @type {number} */ bytes) => (bytes / 2 ** 20).toFixed(2);
    const first = `${mib(heap[0])} MiB at first`;
    console.log(`${name}: ${first}, ${mib(heapBefore)} then ${mib(heapAfter)} MiB, ${nodesBefore} then ${nodesAfter} nodes${worse ? ': GROWS' : ''}`);
    console.log(`  where it is: ${person.page.url()}, ${((await person.status.textContent()) ?? '').slice(0, 80)}`);
    await person.leave();
  }
} finally {
  await browser.close();
  await hub.stop();
}
process.exit(grown ? 1 : 0);
