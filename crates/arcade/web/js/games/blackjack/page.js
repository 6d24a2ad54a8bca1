import { errorText, request } from '../../lib/api.js';
import { avatar } from '../../lib/avatar.js';
import { curve } from '../../lib/curve.js';
import { element, listenToKeys, sheet, toggle, updateChildren } from '../../lib/dom.js';
import { hud, upperEdge } from '../../lib/hud.js';
import { highest } from '../../lib/leaders.js';
import { flip } from '../../lib/motion.js';
import { isolated } from '../../lib/names.js';
import { named } from '../../lib/person.js';
import { prefersReducedMotion, recall } from '../../lib/settings.js';
import { sound } from '../../lib/sound.js';
import { say, sayIfKnown } from '../../lib/text.js';
import { byBest, byLearned, costliest } from './advice.js';
import { handElement, total } from './cards.js';
import { fold, restoreRounds, savedRounds } from './fold.js';
import { signed } from './learner.js';
import { Pace } from './pace.js';
import { HIT, SECONDS, STAND, decode, join } from './protocol.js';
import { parse, parseHand } from './view.js';

export { rules } from './rules.js';
export { story } from './story.js';

await sheet('board.css', import.meta.url);

/** The best table never changes. @type {Promise<import('./advice.js').Adviser> | null} */
let best = null;


/** @type {import('../types.js').Help} */
const HELP = [
  ['h', say('blackjack.help.hit')],
  ['s', say('blackjack.help.stand')],
  ['Enter', say('blackjack.help.next')],
  ['tap', say('blackjack.help.tap')],
  ['?', say('help.these')],
];

/** How long the last verdict is shown before the result, in milliseconds. */
const LAST_VERDICT = 3000;

/** @param {string | null} seat */
const tableOf = (seat) => Number(/^table (\d+)/.exec(seat ?? '')?.[1]);

/** The round that is played or was played last. @param {{ played: number, rounds: number, upcard: unknown }} table */
const current = ({ played, rounds, upcard }) => Math.min(rounds, played + (upcard ? 1 : 0));

/**
 * @param {import('../types.js').Stage} stage
 * @returns {import('../types.js').Play}
 */
export function play({ board, below, controls, more, live, watching, playable, name, realName, face, saved: before, save, send, seatChanged, changed }) {
  const state = restoreRounds(before);
  /** @type {import('./advice.js').Adviser | null} */
  let adviser = null;
  let problem = '';
  /** The player's decisions, for the story after the match. @type {{ hand: import('./protocol.js').Card[], upcard: import('./protocol.js').Card, action: 'hit' | 'stand' }[]} */
  const decisions = [];
  /** Cards of the player's hand that are shown already. */
  let known = 0;
  /** @type {import('../types.js').Room | null} */
  let room = null;
  /** As the hub sends it. @type {string | null} */
  let own = null;
  /** The last seat of the player, whose table is shown until the next match. @type {string | null} */
  let last = null;
  /** The other players of the table. @type {import('../types.js').Player[]} */
  let seated = [];
  let waiting = false;
  /** Until when a verdict is shown that may be the last one, by `performance.now()`. */
  let endsAt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let ending;
  /** Whether the dealer's hole card is shown. */
  let isRevealed = false;
  const felt = element('div', { class: 'felt' });
  const figures = hud(board);
  board.append(felt);
  const tally = element('p', { class: 'hidden' });
  const clock = element('progress', { 'aria-label': say('blackjack.clock'), max: String(SECONDS), hidden: true });
  const worth = element('p', { class: 'worths', role: 'status', hidden: true });
  const curveOfBalance = element('div');
  const bankroll = element('details', { class: 'bankroll', hidden: true }, element('summary', {}, say('blackjack.bankroll')), curveOfBalance);
  below.append(tally);
  /** @param {string} answer */
  const decide = (answer) => {
    if (!state.awaitsDecision) return;
    if (state.upcard) decisions.push({ hand: [...state.hand], upcard: state.upcard, action: answer === HIT ? 'hit' : 'stand' });
    state.awaitsDecision = false;
    pace.answered();
    send(answer);
    show();
  };
  const next = element('button', { type: 'button', class: 'primary large', 'data-next': true, hidden: true, click: () => pace.resume() }, `${say('blackjack.next')} `, element('kbd', {}, 'Enter'));
  const hit = element('button', { type: 'button', class: 'primary large', click: () => decide(HIT) }, `${say('blackjack.hit')} `, element('kbd', {}, 'h'));
  const stand = element('button', { type: 'button', class: 'primary large', click: () => decide(STAND) }, `${say('blackjack.stand')} `, element('kbd', {}, 's'));
  const learned = byLearned(recall('learned table'));
  const source = element('select', { 'aria-label': say('blackjack.advice.whose') }, element('option', { value: 'best' }, say('blackjack.advice.best')));
  if (learned) source.append(element('option', { value: 'learned' }, say('blackjack.advice.learned', { rounds: learned.rounds })));
  let advises = false;
  const choose = async () => {
    problem = '';
    adviser = null;
    if (advises && source.value === 'learned') adviser = learned?.adviser ?? null;
    else if (advises) {
      best ??= request('/api/blackjack/table').then(byBest);
      try {
        const bestAdviser = await best;
        // The choice may have changed in the meantime.
        if (advises && source.value === 'best') adviser = bestAdviser;
      } catch (error) {
        best = null;
        problem = errorText(error);
      }
    }
    source.hidden = !advises || !learned;
    show();
  };
  const advice = toggle(say('blackjack.advice'), (on) => {
    advises = on;
    choose();
  });
  source.hidden = true;
  source.addEventListener('change', choose);
  if (playable) {
    controls.append(clock, hit, stand, next, worth);
    more.append(advice, source, bankroll);
  }
  const stopKeys = listenToKeys((event) => {
    const answer = event.key === 'h' ? HIT : event.key === 's' ? STAND : null;
    if (!playable) return false;
    if (event.key === 'Enter' && pace.isPaused) pace.resume();
    else if (answer !== null) decide(answer);
    else return false;
    return true;
  });

  const show = () => {
    hit.disabled = stand.disabled = !state.awaitsDecision;
    showPause();
    const { win, push, loss, bust } = state.counts;
    const round = state.verdict ? finished() : null;
    const dealer = round && round.dealer;
    const statusText = state.verdict
      ? [
          `${say(`blackjack.${state.verdict}`)}.`,
          ...(dealer ? [say('blackjack.totals', { own: total(state.hand), dealer: total(dealer) })] : []),
          ...(state.over ? [say('blackjack.over')] : []),
        ].join(' ')
      : state.over
        ? say('blackjack.over')
        : state.awaitsDecision
          ? say('blackjack.ask')
          : state.hand.length === 0
            ? waits()
            : say('blackjack.others');
    showAdvice();
    bankroll.hidden = state.bankroll.length < 3;
    if (!bankroll.hidden) curveOfBalance.replaceChildren(curve(state.bankroll, say('blackjack.bankroll')));
    const [played, rounds] = [win + push + loss + bust, room?.options?.['rounds']];
    const balance = state.bankroll[state.bankroll.length - 1];
    figures.status.dataset.verdict = state.verdict ?? '';
    figures.show(statusText, [[balance > 0 ? `+${balance}` : String(balance).replace('-', '−'), say('blackjack.balance')]], typeof rounds === 'number' ? [[`${Math.min(played + (state.verdict ? 0 : 1), rounds)}/${rounds}`, say('blackjack.round.short')]] : null);
    const all = say('blackjack.tally', { won: win, drawn: push, lost: loss + bust, bankroll: balance });
    tally.textContent = typeof rounds === 'number' ? `${say('blackjack.tally.rounds', { played, rounds })} ${all}` : all;
    // The dealer sends only the player's own hand. The hub adds the others' after the round.
    const neighbours = others().map((other) => {
      const hand = round?.hands[other.seat];
      const isDealt = state.upcard && tableOf(other.seat) === tableOf(last);
      return element(
        'div',
        { class: 'place', 'data-seat': other.seat, role: 'group', 'aria-label': isolated(other.name) },
        element('h2', {}, avatar(other.seat, face(other.seat, other.name)), named(other.name)),
        handElement(hand ?? (isDealt ? [null, null] : [])),
        element('span', { class: 'total' }, hand ? total(hand) : ''),
        element('p', { class: 'soft' }, wins(other.seat)),
      );
    });
    const middle = Math.ceil(neighbours.length / 2);
    updateChildren(
      felt,
      element(
        'section',
        { class: 'dealer', 'aria-label': say('blackjack.dealer') },
        element('h2', {}, say('blackjack.dealer')),
        handElement(dealer ?? (state.upcard ? [null, state.upcard] : [])),
        element('span', { class: 'total' }, dealer ? total(dealer) : ''),
      ),
      element(
        'div',
        { class: 'places' },
        ...neighbours.slice(0, middle),
        element(
          'div',
          { class: 'place own', 'data-seat': last ?? '', role: 'group', 'aria-label': say('blackjack.hand', { name }) },
          handElement(state.hand, known),
          element('span', { class: 'total' }, total(state.hand)),
        ),
        ...neighbours.slice(middle),
      ),
    );
    known = state.hand.length;
    if (dealer && !isRevealed) felt.querySelectorAll('.dealer .card:first-child, .place:not(.own) .card').forEach(flip);
    isRevealed = dealer !== null;
  };
  const showAdvice = () => {
    const advice = adviser && state.awaitsDecision && state.upcard ? adviser(state.hand, state.upcard) : null;
    worth.hidden = !advises;
    hit.classList.toggle('advised', advice?.action === 'hit');
    stand.classList.toggle('advised', advice?.action === 'stand');
    const silent = say(state.awaitsDecision && adviser ? 'blackjack.advice.unknown' : 'blackjack.advice.later');
    if (!advice) return worth.replaceChildren(problem || silent);
    const mean = (/** @type {'hit' | 'stand'} */ action) => {
      const { [action]: value } = advice;
      return value === null ? [] : [element('span', {}, say(`blackjack.advice.${action}`, { worth: signed(value, 3) }))];
    };
    return worth.replaceChildren(element('strong', {}, say(`blackjack.${advice.action}`)), ...mean('hit'), ...mean('stand'));
  };
  /** All cards of the round whose verdict is shown. The dealer's second card is the upcard. */
  const finished = () => {
    const round = room?.rounds?.find(({ table }) => table === tableOf(last));
    const dealer = parseHand(round?.dealer ?? []);
    const upcard = dealer?.[1];
    if (!round || !dealer || !upcard || upcard.rank !== state.upcard?.rank || upcard.suit !== state.upcard.suit) return null;
    return { dealer, hands: Object.fromEntries(Object.entries(round.hands).map(([seat, names]) => [seat, parseHand(names)])) };
  };
  /** Shows the buttons that apply now, and the remaining time. */
  const showPause = () => {
    const { isPaused, left } = pace;
    const focused = document.activeElement;
    [next.hidden, hit.hidden, stand.hidden] = [!isPaused || state.over, isPaused, isPaused];
    if (isPaused && (focused === hit || focused === stand)) next.focus();
    if (!isPaused && focused === next) hit.focus();
    clock.hidden = left === null;
    clock.value = left ?? 0;
  };
  const waits = () => {
    if (room?.phase === 'lobby') return say('blackjack.waits', { taken: room.taken, seats: room.seats });
    return say(waiting ? 'blackjack.waits.table' : 'blackjack.waits.cards');
  };
  /** Before the hub has sent the player's seat, a player of the same name counts as the user. */
  const others = () => {
    const all = room?.players ?? [];
    const self = all.find(({ seat }) => seat === own) ?? all.find((player) => player.name === name);
    // A table may end before the page has shown its last round.
    if (self || last === null) seated = all.filter((player) => player !== self);
    return seated;
  };
  /** @param {string} seat */
  const wins = (seat) => {
    const won = room?.scores?.[seat] ?? room?.result?.find((row) => row.seat === seat)?.score;
    return won === undefined ? say('blackjack.plays') : say('score.blackjack', { count: won });
  };

  /** The last view for spectators. */
  let view = '';
  const showView = () => {
    const tables = parse(view);
    if (!tables) return;
    figures.show(tables.length ? '' : say('blackjack.none'), null, tables.length === 1 ? [[`${current(tables[0])}/${tables[0].rounds}`, say('blackjack.round.short')]] : null);
    felt.replaceChildren(
      ...tables.flatMap(({ number: table, played, rounds, upcard, revealed, seats }) => [
        element(
          'section',
          { class: 'dealer', 'aria-label': say('blackjack.dealer.table', { number: table }) },
          element('h2', {}, `${say('blackjack.dealer')} `, element('span', { class: 'total' }, !upcard && revealed ? total(revealed) : '')),
          handElement(upcard ? [null, upcard] : (revealed ?? [])),
          element('p', { class: 'house' }, say('blackjack.round', { played: current({ played, upcard, rounds }), rounds }) + (upcard && revealed ? ` ${say('blackjack.before', { total: total(revealed) })}` : '')),
        ),
        element(
          'div',
          { class: 'places' },
          ...seats.map((seat, index) => {
            const key = `table ${table}, seat ${index + 1}`;
            const who = seat && realName(key, seat.name);
            return seat && who
              ? element(
                  'div',
                  { class: 'place', 'data-seat': key, role: 'group', 'aria-label': isolated(who) },
                  element('h2', {}, named(who)),
                  handElement(seat.hand),
                  element('span', { class: 'total' }, total(seat.hand)),
                  element('p', { class: 'verdict' }, sayIfKnown(`blackjack.stage.${seat.stage}`, seat.stage)),
                )
              : element('div', { class: 'place free', role: 'group', 'aria-label': say('blackjack.free') }, element('h2', {}, say('blackjack.free')));
          }),
        ),
      ]),
    );
  };

  /** @param {import('./protocol.js').BlackjackMessage} message */
  const take = (message) => {
    if (message.kind === 'begin') known = 0;
    const { counted } = state;
    fold(state, message);
    // After a reconnect the dealer repeats the last result, which may have been counted already.
    const news = message.kind === 'result' && state.counted !== counted;
    if (message.kind === 'card') sound('card');
    if (message.kind === 'result' && news) {
      save(savedRounds(state));
      live.textContent = `${say(`blackjack.${message.verdict}`)}.`;
      sound(message.verdict === 'win' ? 'win' : message.verdict === 'push' ? 'card' : 'loss');
    }
    if (message.kind === 'decision') {
      live.textContent = say('blackjack.ask.total', { own: total(state.hand) });
    }
    if (news) {
      endsAt = performance.now() + LAST_VERDICT;
      clearTimeout(ending);
      ending = setTimeout(changed, LAST_VERDICT + 50);
      changed();
    }
    return news;
  };
  const pace = new Pace({
    take: (message) => {
      const stays = take(message);
      // Deferred until `pace` holds the message.
      queueMicrotask(show);
      return stays;
    },
    tick: () => showPause(),
    still: prefersReducedMotion(),
  });

  show();
  return {
    help: HELP,
    open: () => {
      if (playable) send(join(name));
    },
    message: (data) => {
      if (typeof data !== 'string') return;
      if (watching) {
        view = data;
        showView();
        return;
      }
      const message = decode(data);
      if (message) pace.put(message);
    },
    room: (now) => {
      room = now;
      // The match stays rated, so advice would be unfair.
      advice.disabled = now.rated === true;
      advice.textContent = say(advice.disabled ? 'blackjack.advice.casual' : 'blackjack.advice');
      advice.setAttribute('aria-label', advice.textContent);
      if (advice.disabled && advises) advice.click();
      // The names of players may arrive after the view.
      if (!watching) show();
      else if (view) showView();
    },
    setSeat: (seat) => {
      own = seat || null;
      last = own ?? last;
      waiting = seat === '';
      if (own !== null) seatChanged(own);
      if (!watching) show();
    },
    sentences: async () => {
      best ??= request('/api/blackjack/table').then(byBest);
      return costliest(decisions, await best);
    },
    anchor: (seat) => {
      const place = [...felt.querySelectorAll('[data-seat]')].find((one) => one.getAttribute('data-seat') === seat);
      return place ? upperEdge(board, place.querySelector('.mark') ?? place) : null;
    },
    isEnding: () => performance.now() < endsAt,
    leaders: () => highest(Object.entries(room?.scores ?? {})),
    seat: (seat) => {
      const won = room?.scores?.[seat];
      return { value: won === undefined ? '' : String(won) };
    },
    stop: () => {
      stopKeys();
      clearTimeout(ending);
      pace.stop();
    },
  };
}
