// What is known of the texts of the page before it runs: their keys, and the values that each of them has to be given.

import type { texts } from '../../text/en.js';

export type Texts = typeof texts;
/** A key of a text. Those of en.js count. */
export type Key = keyof Texts;

/** A text with a form for each plural of a language. */
export type Forms = { one: string; few?: string; many?: string; other?: string };
/** All texts in another language. */
export type Translation = Record<Key, string | Forms>;
/** Sentences of the hub in another language, by the English ones. */
export type Sentences = Record<string, string | Forms>;

/** The names in braces of a text. */
type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type Named<Entry> = Entry extends string ? Names<Entry> : Names<Entry[keyof Entry]>;
type Plural<Entry> = Entry extends string ? unknown : { count: number };
type Values<Entry, Value> = Record<Exclude<Named<Entry>, 'count'>, Value> &
  (Entry extends string ? ('count' extends Named<Entry> ? { count: Value } : unknown) : unknown) &
  Plural<Entry>;

/** What follows a key: the values of its text, if it has any. */
export type Given<K extends Key, Value> = [Named<Texts[K]>] extends [never]
  ? Texts[K] extends string
    ? []
    : [values: { count: number }]
  : [values: Values<Texts[K], Value>];
