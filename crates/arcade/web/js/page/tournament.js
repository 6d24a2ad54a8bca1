// The tournament of a class: the matches of the round, and the table.

import { GAMES } from '../games/index.js';
import { element, updateChildren } from '../lib/dom.js';
import { named } from '../lib/person.js';
import { number, say } from '../lib/text.js';

/**
 * @typedef {import('./classes.js').Class} Class
 * @typedef {import('./classes.js').Pairing} Pairing
 * @typedef {import('./classes.js').Tournament} Tournament
 */

/** @param {Tournament} tournament */
export const roundText = ({ game, round, rounds, over }) => [GAMES[game].title, over ? say('class.cup.over') : say('class.cup.round', { round, rounds })].join(' · ');

/** @param {Tournament} tournament @param {number} [most] Places that are shown. */
export const places = ({ table }, most = table.length) =>
  element(
    'table',
    {},
    element('thead', {}, element('tr', {}, element('th', {}, say('class.scores.name')), element('th', { class: 'number' }, say('class.cup.points')), element('th', { class: 'number' }, say('class.cup.opponents')))),
    element('tbody', {}, ...table.slice(0, most).map(({ name, points, opponents }) => element('tr', {}, element('td', {}, named(name)), element('td', { class: 'number' }, number(points / 2)), element('td', { class: 'number' }, number(opponents / 2))))),
  );

export class Cup {
  constructor() {
    this.round = element('p', { class: 'soft' });
    this.own = element('div');
    this.pairings = element('ul', { class: 'pairings' });
    this.table = element('div');
    this.panel = element('section', { class: 'panel', 'aria-labelledby': 'class-cup', hidden: true }, element('h2', { id: 'class-cup' }, say('class.cup')), this.round, this.own, element('div', { class: 'columns' }, this.pairings, this.table));
  }

  /** @param {Class} now */
  show({ tournament, you }) {
    this.panel.hidden = !tournament;
    if (!tournament) return;
    this.round.textContent = roundText(tournament);
    const mine = tournament.pairings.find(({ one, other }) => you !== undefined && (one === you || other === you));
    updateChildren(this.own, ...(mine ? [ownMatch(mine, you ?? '')] : []));
    updateChildren(this.pairings, ...tournament.pairings.map(line));
    updateChildren(this.table, places(tournament));
  }
}

/** @param {Pairing} pairing @param {string} you */
function ownMatch({ one, other, room, points }, you) {
  if (other === null) return element('p', {}, say('class.cup.bye'));
  const opponent = one === you ? other : one;
  if (points !== null || room === null) return element('p', {}, say('class.cup.wait'));
  return element('div', { class: 'row' }, element('p', {}, say('class.cup.own', { name: opponent })), element('a', { class: 'button primary', href: `/rooms/${room}` }, say('class.cup.play')));
}

/** @param {Pairing} pairing */
function line({ one, other, room, points }) {
  const names = other === null ? [named(one)] : [named(one), ' – ', named(other)];
  const result = other === null ? say('class.cup.free') : points === null ? say('class.cup.open') : `${number(points[0] / 2)} : ${number(points[1] / 2)}`;
  const watch = room !== null && points === null ? [element('a', { href: `/rooms/${room}?watch`, 'aria-label': say('class.cup.watch', { one, other: other ?? '' }) }, say('page.watch'))] : [];
  return element('li', { 'data-key': `${one} ${room ?? ''} ${points === null}` }, element('span', {}, ...names), element('span', { class: 'number' }, result), ...watch);
}
