// Finds texts for users in modules, which belong in the text files.

import ts from 'typescript';

/** Attributes that the user sees or a screen reader announces. */
const SPOKEN = new Set(['aria-label', 'aria-valuetext', 'aria-roledescription', 'alt', 'placeholder', 'title', 'label']);
const SHOWN = new Set(['textContent', 'innerText', 'title', 'placeholder', 'ariaLabel', 'alt']);
/** Functions that show arguments, and their indices. `element` shows all arguments after the attributes. */
const SAYING = /** @type {Record<string, number[]>} */ ({
  toggle: [0, 3], copyButton: [1], confirm: [0, 1, 2], title: [0], announceLink: [0], prompt: [0], alert: [0], fillText: [0], append: [0, 1, 2], replaceChildren: [0, 1, 2],
  end: [0], button: [0], Surface: [1], page: [1], curve: [1], Error: [0],
});
/** Functions and properties whose texts are for the browser. */
const TECHNICAL = new Set(['querySelector', 'querySelectorAll', 'closest', 'matches', 'matchMedia', 'recall', 'remember', 'replace', 'setProperty', 'getContext']);
const HIDDEN = new Set(['class', 'data-keys', 'font', 'id', 'name', 'type', 'role', 'autocomplete', 'inputmode', 'rel', 'href', 'src', 'lang', 'for', 'value', 'tabindex']);
/** Terms of protocols and keyboards, commands, names of guests, and names of languages. */
const NO_TEXT = new RegExp(
  '^(Tab|Enter|Backspace|Home|End|Page(Up|Down)|Arrow\\w+|Shift|Shift \\+ key|Space j z|' +
    'Clubs|Diamonds|Hearts|Spades|Ace|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten|Jack|Queen|King|GAME OVER:|' +
    'Badger|Beaver|Falcon|Ferret|Gecko|Heron|Jackal|Lemur|Marten|Newt|Otter|Panda|Raven|Robin|Stoat|Walrus|Arcade|· Arcade|AudioContext|Bearer|English|Polski|Th|player yourname|arcade ladder join NAME --server|curl -H .*|cargo run -p \\$& --)$',
);
/** Modules whose errors are never shown. */
const SILENT = /(^|\/)(bytes|protocol)\.js$/;

/** @param {ts.Node} node */
const isText = (node) =>
  ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node);

/** @param {ts.Node | undefined} node */
const nameOf = (node) =>
  node && (ts.isIdentifier(node) || ts.isStringLiteral(node)) ? node.text : node && ts.isPropertyAccessExpression(node) ? node.name.text : '';

/**
 * Whether a literal is for the user, for the browser, or unknown.
 * @param {ts.Node} node
 * @returns {'person' | 'browser' | 'unknown'}
 */
function goal(node) {
  for (let [child, parent] = [node, node.parent]; parent && !ts.isFunctionLike(parent) && !ts.isStatement(parent); [child, parent] = [parent, parent.parent]) {
    if (ts.isPropertyAssignment(parent)) {
      if (parent.name === child) return 'browser';
      const name = nameOf(parent.name);
      return SPOKEN.has(name) ? 'person' : HIDDEN.has(name) ? 'browser' : 'unknown';
    }
    if (ts.isConditionalExpression(parent) && parent.condition === child) return 'browser';
    if (ts.isElementAccessExpression(parent) && parent.argumentExpression === child) return 'browser';
    if (ts.isBinaryExpression(parent)) {
      const kind = parent.operatorToken.kind;
      if (kind === ts.SyntaxKind.EqualsToken) return SHOWN.has(nameOf(parent.left)) ? 'person' : HIDDEN.has(nameOf(parent.left)) ? 'browser' : 'unknown';
      const compares = [ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.ExclamationEqualsEqualsToken, ts.SyntaxKind.InKeyword];
      if (compares.includes(kind)) return 'browser';
    }
    if (ts.isCallExpression(parent) || ts.isNewExpression(parent)) {
      const at = (parent.arguments ?? []).findIndex((one) => one === child);
      // The object of a method call, as in 'abc'.split().
      if (at < 0) continue;
      const name = nameOf(parent.expression);
      if (TECHNICAL.has(name)) return 'browser';
      if (name === 'element') return at >= 2 && !/^'(kbd|code)'$/.test(parent.arguments?.[0]?.getText() ?? '') ? 'person' : 'browser';
      if (name === 'setAttribute' && at === 1) return SPOKEN.has(nameOf(parent.arguments?.[0])) ? 'person' : 'browser';
      const isOfList = ts.isPropertyAccessExpression(parent.expression) && nameOf(parent.expression.expression) === 'classList';
      return !isOfList && Object.hasOwn(SAYING, name) && SAYING[name].includes(at) ? 'person' : 'unknown';
    }
  }
  return 'unknown';
}

/**
 * @param {string} path
 * @param {string} source
 * @returns {string[]} Each with its line.
 */
export function literals(path, source) {
  if (SILENT.test(path)) return [];
  /** @type {string[]} */
  const found = [];
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (isText(node)) {
      const { text } = /** @type {ts.StringLiteral} */ (node);
      const to = goal(node);
      const reads = to === 'person' ? /\p{L}{2}/u.test(text) : to === 'unknown' && /\p{L}{2}[^/\p{L}]* \p{L}{2}|^\p{Lu}\p{Ll}/u.test(text);
      // Units and keys of texts are not words.
      if (reads && !NO_TEXT.test(text.trim()) && !isKey(node)) found.push(`${path}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${text.trim()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Whether a literal is the key of a text. @param {ts.Node} node */
function isKey(node) {
  for (let at = node; at && !ts.isStatement(at); at = at.parent) {
    if (ts.isCallExpression(at.parent) && /^(say|sayNodes|sayIfKnown)$/.test(nameOf(at.parent.expression))) return true;
    if (ts.isPropertyAssignment(at.parent)) return false;
  }
  return false;
}
