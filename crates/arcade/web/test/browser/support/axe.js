import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * @param {import('./browser.js').Person} person
 * @returns {Promise<string[]>}
 */
export async function findings({ page }) {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    // @ts-expect-error axe has been injected above.
    const { violations, incomplete } = await globalThis.axe.run({ resultTypes: ['violations', 'incomplete'] });
    // A forbidden label is a violation only while its element has no text, so it is reported by chance.
    const labels = incomplete.filter((/** @type {any} */ { id }) => id === 'aria-prohibited-attr');
    return [...violations, ...labels].flatMap((/** @type {any} */ { id, nodes }) =>
      nodes.map((/** @type {any} */ { html, failureSummary }) => `${id}: ${html.slice(0, 160)}\n${failureSummary}`),
    );
  });
}
