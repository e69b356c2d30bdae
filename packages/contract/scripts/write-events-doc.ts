/** `npm run docs:events`: writes docs/events.md. */
import { writeFileSync } from 'node:fs';
import { eventsDocument } from '../src/events-document.ts';

writeFileSync(new URL('../../../docs/events.md', import.meta.url), eventsDocument());
console.log('docs/events.md is up to date');
