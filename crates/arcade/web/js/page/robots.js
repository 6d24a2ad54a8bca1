// A robots room on the page.

import { Surface } from '../board/canvas.js';
import { colourOf, draw, fieldSize } from '../board/robots.js';
import { begin, blast, fold, place, ranking } from '../fold/robots.js';
import { decode, join, move, placeBlock, placeBomb } from '../protocol/robots.js';
import { element, listenToKeys, toggle } from './dom.js';

/** @typedef {import('../protocol/robots.js').Direction} Direction */

const KEYS = /** @type {Record<string, Direction>} */ ({
  ArrowUp: 'up',
  ArrowRight: 'right',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  w: 'up',
  d: 'right',
  s: 'down',
  a: 'left',
});

/**
 * @param {import('./room.js').Stage} stage
 * @returns {import('./room.js').Play}
 */
export function playRobots({ board, controls, live, watching, name, send, seated }) {
  const state = begin();
  /** @type {number | null} */
  let own = null;
  let joining = false;
  let threatens = false;
  const line = element('p', { role: 'status' });
  const scores = element('ol');
  const progress = element('progress', { 'aria-label': 'Turns played' });
  const joinButton = element(
    'button',
    {
      type: 'button',
      class: 'primary',
      click: () => {
        joining = true;
        send(join(name));
      },
    },
    'Join the next game',
  );
  const surface = new Surface(board, 'The board', (context, width) => {
    if (!state.settings) return;
    const most = Math.max(200, innerHeight * 0.65);
    const field = fieldSize(state.settings, width, most);
    surface.setHeight(Math.round(field * state.settings.height));
    if (state.game) {
      draw(context, state.game, state.settings, { width, height: surface.height, own, threatened: threatens ? danger() : null });
    } else {
      context.fillStyle = '#0d0b08';
      context.fillRect(0, 0, width, surface.height);
    }
  });
  board.after(line, progress, scores);

  /** Fields that the bombs cover that explode in the next turn. */
  const danger = () => {
    /** @type {Map<string, import('../fold/robots.js').Position>} */
    const covered = new Map();
    const { game, settings } = state;
    if (game && settings) {
      for (const bomb of game.bombs.values()) {
        if (bomb.timer > 1) continue;
        for (const cell of blast(bomb.position, settings, game.blocks)) covered.set(place(cell), cell);
      }
    }
    return covered;
  };

  const stopKeys = listenToKeys((event) => {
    if (watching) return false;
    const direction = KEYS[event.key];
    // A blank presses the button that has the focus.
    const onButton = event.target instanceof HTMLButtonElement;
    if (direction) send(move(direction));
    else if (event.key === ' ' && !onButton) send(placeBomb());
    else if (event.key === 'b' || event.key === 'x') send(placeBlock());
    else return false;
    return true;
  });

  if (!watching) {
    const button = (/** @type {string} */ label, /** @type {string} */ text, /** @type {() => Uint8Array<ArrayBuffer>} */ bytes) =>
      element('button', { type: 'button', 'aria-label': label, click: () => send(bytes()) }, text);
    controls.append(
      joinButton,
      button('Move left', '←', () => move('left')),
      button('Move up', '↑', () => move('up')),
      button('Move down', '↓', () => move('down')),
      button('Move right', '→', () => move('right')),
      button('Put down a bomb', 'Bomb', placeBomb),
      button('Put down a block', 'Block', placeBlock),
    );
  }
  controls.append(
    toggle('Show the next blasts', (on) => {
      threatens = on;
      surface.change();
    }),
  );

  const show = () => {
    const { settings, game } = state;
    if (!settings) return;
    joinButton.hidden = game !== null || own !== null;
    progress.hidden = game === null;
    if (game) {
      progress.max = settings.length;
      progress.value = game.turn;
      const looking = own === null && !watching ? ' You look on; you can join the next game.' : '';
      line.textContent = `Turn ${game.turn} of ${settings.length}.${looking}`;
      list(ranking(state.players, game.scores));
    } else {
      line.textContent = `Waiting for players: ${state.players.size} of ${settings.players}.`;
      if (state.last) list(ranking(state.last.players, state.last.scores));
      else scores.replaceChildren();
    }
    surface.change();
  };
  /** @param {{ id: number, name: string, score: number }[]} rows */
  const list = (rows) => {
    scores.replaceChildren(
      ...rows.map(({ id, name: who, score }) => {
        const mark = element('span', { 'aria-hidden': 'true' }, '■ ');
        mark.style.color = colourOf(id);
        const times = score === 1 ? 'destroyed once' : `destroyed ${score} times`;
        return element('li', id === own ? { class: 'own' } : {}, mark, `${who}${id === own ? ' (you)' : ''}: ${times}`);
      }),
    );
  };

  return {
    open: () => {},
    message: (data) => {
      const message = data instanceof ArrayBuffer ? decode(new Uint8Array(data)) : null;
      if (!message) return;
      // The server does not say which of the players one is: the first of one's name after one's own Join.
      if (message.kind === 'accepted' && joining && own === null && message.player.name === name) {
        own = message.id;
        joining = false;
        seated(null, String(message.id));
      }
      if (message.kind === 'ended') {
        const rows = ranking(state.players, message.scores);
        live.textContent = `The game is over. Fewest destructions: ${rows.filter(({ rank }) => rank === 1).map(({ name: who }) => who).join(', ')}`;
        own = null;
        seated(null, null);
      }
      fold(state, message);
      if (message.kind === 'turn' && state.game?.destroyed.some(({ player }) => player === own)) {
        live.textContent = 'Your robot was destroyed.';
      }
      show();
    },
    room: () => {},
    stop: () => {
      stopKeys();
      surface.stop();
    },
  };
}
