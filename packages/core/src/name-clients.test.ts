import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nameClients } from './name-clients.ts';

interface Workspace {
  id: string;
  client_id: string;
}
interface Client {
  id: string;
  name: string;
}

/** The loop inside a loop that it replaces. */
function naive(workspaces: readonly Workspace[], clients: readonly Client[]) {
  return workspaces.map((workspace) => {
    let name = '';
    for (const client of clients) if (client.id === workspace.client_id) name = client.name;
    return { ...workspace, client: { id: workspace.client_id, name } };
  });
}

test('names what the loop inside a loop names', () => {
  const id = fc.stringMatching(/^[ab]{0,2}$/);
  fc.assert(
    fc.property(
      fc.array(fc.record({ id: fc.string(), client_id: id })),
      fc.array(fc.record({ id, name: fc.string() })),
      (workspaces, clients) => {
        expect(nameClients(workspaces, clients)).toEqual(naive(workspaces, clients));
      },
    ),
  );
});

/** An array that counts how often one of its elements is read. */
function counting<T>(items: T[]): { items: T[]; reads: () => number } {
  let reads = 0;
  const proxy = new Proxy(items, {
    get(target, key, receiver) {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++;
      return Reflect.get(target, key, receiver);
    },
  });
  return { items: proxy, reads: () => reads };
}

test('takes n + m steps: 10,000 for 3,000 workspaces and 7,000 clients', () => {
  const clients = counting(Array.from({ length: 7000 }, (_, i) => ({ id: `c${i}`, name: `client ${i}` })));
  const workspaces = counting(
    Array.from({ length: 3000 }, (_, i) => ({ id: `w${i}`, client_id: `c${(i * 31) % 7000}` })),
  );
  const named = nameClients(workspaces.items, clients.items);
  expect(named).toHaveLength(3000);
  expect(named[1]?.client).toEqual({ id: 'c31', name: 'client 31' });
  expect(clients.reads() + workspaces.reads()).toBeLessThanOrEqual(10_000);
  // The counter itself notices: the other way takes millions.
  const [few, others] = [counting(clients.items.slice(0, 100)), counting(workspaces.items.slice(0, 100))];
  naive(others.items, few.items);
  expect(few.reads()).toBe(10_000);
});
