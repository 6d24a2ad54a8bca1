// Asks for the name of the player and for access to the room, then shows the room.

import { GAMES, isGame } from '../games/index.js';
import { errorText, load } from '../lib/api.js';
import { element, sheet } from '../lib/dom.js';
import { go } from '../lib/route.js';
import { rooms } from '../lib/settings.js';
import { say } from '../lib/text.js';
import { admit, noteCode } from './door.js';
import { isHanded } from './handed.js';
import { askName } from './identity.js';
import { enter } from './inside.js';
import { proveName } from './key.js';
import { noSuchRoom } from './missing.js';
import { askLate } from './waiting.js';

await sheet('room.css', import.meta.url);

/**
 * Shows the room until the returned function is called.
 * @param {HTMLElement} main
 * @param {string} id
 * @param {{ watching: boolean, next: boolean }} how With `next` the player watches until the next match starts.
 */
export function showRoom(main, id, { watching, next }) {
  const game = id.replace(/-\d+$/, '');
  main.dataset.page = 'room';
  if (!isGame(game)) {
    noSuchRoom(main);
    return () => {};
  }
  main.dataset.game = game;
  noteCode(id);
  let left = false;
  /** @type {() => void} */
  let leave = () => {};
  const begin = async () => {
    const heading = GAMES[game].title;
    if (!watching) {
      main.replaceChildren(element('h1', {}, heading), element('p', {}, say('room.entering')));
      if (!(await askName())) return left ? undefined : go(`/rooms/${id}?watch`);
      await proveName();
    }
    // A player with a seat returns to it without checks.
    if (!isHanded(id) && (watching || rooms.recall(`seat ${id}`) === null)) {
      const now = await admit(main, id, heading, () => left);
      if (left) return undefined;
      if (!watching && now?.phase === 'playing' && now.late) {
        if ((await askLate(main, heading)) === 'next') return left ? undefined : go(`/rooms/${id}?watch&next`);
      }
    }
    const loaded = await loading;
    if (!left) leave = enter(main, id, game, loaded, { watching, next });
    return undefined;
  };
  // The module loads while the name dialog is open.
  const loading = load(GAMES[game].load);
  begin().catch((error) => {
    if (left) return;
    main.replaceChildren(
      element('h1', {}, GAMES[game].title),
      element('p', { class: 'error', role: 'alert' }, errorText(error)),
      element('p', {}, element('a', { class: 'button', href: '/' }, say('page.lobby'))),
    );
  });
  return () => {
    left = true;
    leave();
    delete main.dataset.game;
  };
}
