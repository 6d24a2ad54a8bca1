// The result of the daily puzzle as a picture.

import { dailyRecord } from '../../lib/daily.js';
import { element } from '../../lib/dom.js';
import { resultPicture, sharePicture } from '../../lib/result-picture.js';
import { recall } from '../../lib/settings.js';
import { say, sayIfKnown } from '../../lib/text.js';

/**
 * @param {string} date Of a puzzle whose result is stored.
 * @param {string} text The result as text.
 * @param {(error: unknown) => void} failed
 */
export function pictureButton(date, text, failed) {
  const share = async () => {
    try {
      const [, how = '', count = ''] = (recall(`mastermind ${date}`) ?? '').split(' ');
      const { streak, turns } = dailyRecord((one) => recall(`mastermind ${one}`), new Date(`${date}T00:00:00Z`));
      const picture = await resultPicture({
        title: say('puzzles.today'),
        date,
        score: how === 'won' ? say('mastermind.end.won', { count: Number(count) }) : sayIfKnown(`mastermind.end.${how}`, ''),
        note: streak > 0 ? say('lobby.daily.streak', { count: streak }) : '',
        bars: turns.map((solved, index) => ({ count: solved, own: how === 'won' && index + 1 === Number(count) })),
        colour: getComputedStyle(document.querySelector('[data-game=mastermind]') ?? document.body).getPropertyValue('--game'),
      });
      await sharePicture(picture, `mastermind-${date}.png`, text);
    } catch (error) {
      failed(error);
    }
  };
  return element('button', { type: 'button', class: 'small', click: () => void share() }, say('challenge.picture'));
}
