// Loads the texts and the games before the modules that use them. A module that waits at its top level must not have several
// importers: WebKit may then never evaluate them, and the page stays empty.

import { loaded } from './lib/language.js';

await loaded;
const { loadGames } = await import('./games/index.js');
await loadGames();
await import('./main.js');
