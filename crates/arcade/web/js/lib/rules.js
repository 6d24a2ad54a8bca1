// Small pictures with captions.

import { svgElement } from './curve.js';
import { element } from './dom.js';

/** The tag and the attributes of a shape of a picture of 12 x 7 units, and its text. @typedef {[tag: string, attributes: Record<string, string | number>, text?: string]} Shape */
/** @typedef {{ caption: string, shapes: Shape[] }} Rule */

/** @param {Rule[]} rules */
export const rulePictures = (rules) =>
  element(
    'ul',
    { class: 'rules' },
    ...rules.map(({ caption, shapes }) => {
      const picture = svgElement('svg', { viewBox: '0 0 12 7', 'aria-hidden': 'true' });
      picture.append(...shapes.map(([tag, attributes, text]) => svgElement(tag, attributes, text)));
      return element('li', {}, picture, caption);
    }),
  );
