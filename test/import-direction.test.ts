import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/**
 * What each part of the house may import of the others (docs/architecture.md): apps -> api -> core -> stores ->
 * contract. `pools` stands in front of every store's driver. Nothing imports an app.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'packages/contract': [],
  'packages/pools': ['contract'],
  'packages/mysql': ['contract', 'pools'],
  'packages/cloudant': ['contract', 'pools'],
  'packages/events': ['contract', 'pools'],
  'packages/cache': ['contract', 'pools'],
  'packages/core': ['contract', 'pools', 'mysql', 'cloudant', 'events', 'cache'],
  'packages/api': ['contract', 'core', 'pools'],
  'packages/client': ['contract', 'api', 'events'],
  'packages/ui': ['contract'],
  'apps/web': ['contract', 'api', 'client', 'ui'],
  'apps/server': ['contract', 'api', 'core', 'pools', 'mysql', 'cloudant', 'events', 'cache', 'client'],
  'apps/worker': ['contract', 'core', 'pools', 'mysql', 'cloudant', 'events', 'cache'],
  'infra/local': [],
  perf: ['contract', 'client', 'pools', 'mysql', 'cloudant', 'events', 'cache', 'core', 'api', 'local'],
  test: [],
};

/** Tests may start a private stack of their own. */
const allowedInTests = ['local'];

interface Import {
  /** File that imports, relative to the root. */
  file: string;
  /** What it names. */
  specifier: string;
}

/** The text without comments, so that an example in a docstring is no import. */
function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

function importsOf(file: string, source: string): Import[] {
  const pattern = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+|\brequire\s*\(\s*)(['"])([^'"\n]+)\1/g;
  return [...withoutComments(source).matchAll(pattern)].map((match) => ({ file, specifier: match[2] ?? '' }));
}

/** The part of the house a file belongs to: `packages/mysql`, `apps/web`, `perf`. */
function partOf(file: string): string {
  const [first = '', second = ''] = file.split(sep);
  return first === 'packages' || first === 'apps' || first === 'infra' ? `${first}/${second}` : first;
}

/** @returns what is wrong with an import, or `undefined`. */
function faultOf({ file, specifier }: Import): string | undefined {
  const part = partOf(file);
  if (specifier.startsWith('.')) {
    const target = partOf(relative(root, resolve(root, dirname(file), specifier)));
    return target === part ? undefined : `reaches into ${target} by a relative path`;
  }
  const [, name = '', rest = ''] = /^@sparkroom\/([^/]+)(.*)$/.exec(specifier) ?? [];
  if (name === '') return undefined;
  if (rest !== '') return 'goes past src/index.ts, the only door of a package';
  if (part.endsWith(`/${name}`)) return 'imports its own package by name';
  if (['web', 'server', 'worker', 'admin'].includes(name)) return 'imports an app';
  const may = allowed[part];
  if (may === undefined) return `is in ${part}, which has no row in test/import-direction.test.ts`;
  const isTest = /\.test\.tsx?$|(^|\/)(test|e2e)\//.test(file);
  if (may.includes(name) || (isTest && allowedInTests.includes(name))) return undefined;
  return `${part} may not import ${name}`;
}

function faultsOf(imports: readonly Import[]): string[] {
  return imports.flatMap((found) => {
    const fault = faultOf(found);
    return fault === undefined ? [] : [`${found.file}: '${found.specifier}' ${fault}`];
  });
}

function sourceFiles(): string[] {
  return globSync('{packages,apps,infra}/*/**/*.{ts,tsx,mjs}', {
    cwd: root,
    exclude: (name) => name === 'node_modules' || name === 'dist',
  })
    .concat(globSync('{perf,test}/**/*.{ts,mjs}', { cwd: root, exclude: (name) => name === 'node_modules' }))
    .filter((file) => !file.includes('node_modules') && !file.includes(`${sep}dist${sep}`));
}

describe('imports run one way', () => {
  const files = sourceFiles();

  test('every part of the house is looked at', () => {
    const parts = new Set(files.map(partOf));
    for (const part of [
      'packages/contract',
      'packages/mysql',
      'packages/core',
      'apps/server',
      'infra/local',
    ]) {
      expect(parts).toContain(part);
    }
  });

  test('no file imports against the direction, past a door, or an app', () => {
    const imports = files.flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')));
    expect(imports.length).toBeGreaterThan(50);
    expect(faultsOf(imports)).toEqual([]);
  });

  test('package.json files name only what may be imported', () => {
    const faults = globSync('{packages,apps,infra}/*/package.json', { cwd: root }).flatMap((file) => {
      const { dependencies = {} }: { dependencies?: Record<string, string> } = JSON.parse(
        readFileSync(join(root, file), 'utf8'),
      );
      return faultsOf(Object.keys(dependencies).map((specifier) => ({ file, specifier })));
    });
    expect(faults).toEqual([]);
  });
});

describe('the check itself notices', () => {
  const cases: [string, string, string, string | undefined][] = [
    [
      'a store importing its sibling',
      'packages/mysql/src/a.ts',
      `import { x } from '@sparkroom/cloudant';`,
      'may not import cloudant',
    ],
    ['core importing api', 'packages/core/src/a.ts', `export * from "@sparkroom/api";`, 'may not import api'],
    ['a deep import', 'packages/core/src/a.ts', `import '@sparkroom/mysql/src/tables.ts';`, 'only door'],
    [
      'a relative path into another package',
      'packages/core/src/a.ts',
      `import x from '../../mysql/src/a.ts';`,
      'relative path',
    ],
    [
      'an import of an app',
      'apps/worker/src/a.ts',
      `const x = await import('@sparkroom/server');`,
      'imports an app',
    ],
    [
      'a type import',
      'packages/contract/src/a.ts',
      `import type { X } from '@sparkroom/core';`,
      'may not import core',
    ],
    [
      'the launcher outside a test',
      'packages/mysql/src/a.ts',
      `import { x } from '@sparkroom/local';`,
      'may not import local',
    ],
    [
      'the launcher in a test',
      'packages/mysql/test/a.test.ts',
      `import { x } from '@sparkroom/local';`,
      undefined,
    ],
    ['a permitted import', 'packages/mysql/src/a.ts', `import { x } from '@sparkroom/pools';`, undefined],
    [
      'an example in a comment',
      'packages/mysql/src/a.ts',
      `/** import { x } from '@sparkroom/core'; */`,
      undefined,
    ],
  ];
  test.each(cases)('%s', (_, file, source, fault) => {
    const found = faultsOf(importsOf(file, source));
    if (fault === undefined) expect(found).toEqual([]);
    else expect(found.join()).toContain(fault);
  });
});
