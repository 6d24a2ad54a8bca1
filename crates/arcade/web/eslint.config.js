// tsc checks types and names.
import js from '@eslint/js';

export default [
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2024, sourceType: 'module' },
    rules: {
      'no-undef': 'off',
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'Texts of peers must stay texts; use element() of lib/dom.js.' },
        { property: 'outerHTML', message: 'Texts of peers must stay texts; use element() of lib/dom.js.' },
        { property: 'insertAdjacentHTML', message: 'Texts of peers must stay texts; use element() of lib/dom.js.' },
      ],
    },
  },
];
