// Requests the name of the player and access to the room, then shows the room.

import { GAMES, isGame } from '../games/index.js';
import { errorText, load } from '../lib/api.js';
import { element, sheet } from '../lib/dom.js';
import { navigate } from '../lib/route.js';
import { roomStorage } from '../lib/settings.js';
import { say } from '../lib/text.js';
import { requestAccess, storeCode } from './access.js';
import { classOf } from './classes.js';
import { hasLinkFor } from './link-transfer.js';
import { askName } from './name-dialog.js';
import { registerStoredName } from './name-key.js';
import { showRoomNotFound } from './not-found.js';
import { showRoomView } from './room-view.js';
import { offerNextMatch } from './waiting.js';

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
    showRoomNotFound(main);
    return () => {};
  }
  main.dataset.game = game;
  storeCode(id);
  let left = false;
  /** @type {() => void} */
  let leave = () => {};
  const begin = async () => {
    const heading = GAMES[game].title;
    // The class has checked the name.
    if (!watching && classOf(id) === null) {
      main.replaceChildren(element('h1', {}, heading), element('p', {}, say('room.entering')));
      if (!(await askName())) return left ? undefined : navigate(`/rooms/${id}?watch`);
      await registerStoredName();
    }
    // A player with a seat returns to it without checks.
    if (!hasLinkFor(id) && (watching || roomStorage.recall(`seat ${id}`) === null)) {
      const now = await requestAccess(main, id, heading, () => left);
      if (left) return undefined;
      if (!watching && now?.phase === 'playing' && now.late) {
        if ((await offerNextMatch(main, heading)) === 'next') return left ? undefined : navigate(`/rooms/${id}?watch&next`);
      }
    }
    const loaded = await loading;
    if (!left) leave = showRoomView(main, id, game, loaded, { watching, next });
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
