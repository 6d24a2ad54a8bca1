// The address of the arcade for other people, which may differ from that of this page: the host may have opened it at localhost.

import { ask } from './api.js';

let base = location.origin;
/** @type {Promise<string> | null} */
let asked = null;

/** Fetches the address. Without an answer it remains that of this page. */
export const fetchPublicAddress = () =>
  (asked ??= ask('/api/address').then(
    ({ url }) => (base = url ? url.replace(/\/$/, '') : base),
    () => base,
  ));

/** The public address of a path of this arcade. @param {string} path */
export const publicAddress = (path) => base + path;
