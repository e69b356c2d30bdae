import { createSparkroomClient, type SparkroomClient } from '@sparkroom/client';
import type { APIRequestContext, Browser } from 'playwright-core';
import type { Subjects } from './screens.ts';

export type StorageState = Awaited<ReturnType<APIRequestContext['storageState']>>;

const PASSWORD = 'sparkroom-demo';
const DEMO = 'user0@sparkroom.example';
const FRESH = 'pictures@sparkroom.example';
const LONG = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';

/** Signs in with the site's own form of it and answers the cookies and a client that uses them. */
async function session(
  browser: Browser,
  url: string,
  email: string,
  name?: string,
): Promise<{ state: StorageState; client: SparkroomClient }> {
  const context = await browser.newContext({ baseURL: url });
  const headers = { origin: url };
  try {
    let answer = await context.request.post('/api/auth/sign-in/email', {
      headers,
      data: { email, password: PASSWORD },
    });
    if (!answer.ok() && name) {
      answer = await context.request.post('/api/auth/sign-up/email', {
        headers,
        data: { email, password: PASSWORD, name },
      });
    }
    if (!answer.ok()) {
      throw new Error(
        `Signing in as ${email} was refused (${answer.status()}). Is the demo seeded at ${url}?`,
      );
    }
    const state = await context.request.storageState();
    const cookie = state.cookies.map((c) => `${c.name}=${c.value}`).join('; ');
    const client = createSparkroomClient({
      url,
      fetch: (input, init) =>
        fetch(input, {
          ...init,
          headers: { ...(init?.headers as Record<string, string>), cookie, origin: url },
        }),
    });
    return { state, client };
  } finally {
    await context.close();
  }
}

/** The workspace of this name, created when it is not there, so that the pictures can be taken again and again. */
async function ownWorkspace(client: SparkroomClient, clientName: string, name: string): Promise<string> {
  const { items } = await client.workspaces.list.query({ limit: 100 });
  const found = items.find((w) => w.name === name);
  if (found) return found.id;
  const made = await client.clients.create.mutate({ name: clientName });
  return (await client.workspaces.create.mutate({ clientId: made.id, name })).id;
}

/** Invitations to a workspace in each state that its page tells of; what an earlier run left is taken back. */
async function invitations(
  owner: SparkroomClient,
  guest: SparkroomClient,
  workspaceId: string,
): Promise<Subjects['invitation']> {
  const { id: userId } = await guest.me.get.query();
  const withdraw = async () => {
    const members = await owner.members.list.query({ workspaceId, limit: 100 });
    if (members.items.some((m) => m.userId === userId)) {
      await owner.members.remove.mutate({ workspaceId, userId });
    }
  };
  await withdraw();
  const { items } = await owner.invitations.list.query({ workspaceId, limit: 100 });
  for (const { id } of items) await owner.invitations.revoke.mutate({ workspaceId, id });
  const invite = async (email: string) =>
    (await owner.invitations.create.mutate({ workspaceId, email })).token;
  const used = await invite(DEMO);
  await guest.invitations.accept.mutate({ token: used });
  await withdraw();
  return { used, valid: await invite(DEMO), other: await invite('somebody.else@sparkroom.example') };
}

/**
 * Finds what there is to show on the site and adds what the demo has not: an empty and a long-worded workspace, and
 * invitations.
 */
export async function findSubjects(
  browser: Browser,
  url: string,
): Promise<{ subjects: Subjects; demo: StorageState; fresh: StorageState }> {
  const demo = await session(browser, url, DEMO);
  const { items } = await demo.client.workspaces.list.query({ limit: 100 });
  const owned = items.filter((w) => w.role === 'owner');
  const workspace = (owned.length > 0 ? owned : items).toSorted((a, b) => b.ideaCount - a.ideaCount)[0];
  if (!workspace) throw new Error(`${DEMO} has no workspace at ${url}. Seed the demo first.`);
  const ideas = (await demo.client.ideas.list.query({ workspaceId: workspace.id, limit: 100 })).items;
  const open = ideas.filter((i) => i.mayRate && i.score.raters > 2);
  const idea = open.find((i) => i.myRating !== null) ?? open[0] ?? ideas[0];
  const revised = ideas.toSorted((a, b) => b.version - a.version)[0];
  if (!idea || !revised) throw new Error(`The workspace ${workspace.name} has no ideas.`);
  const guidance = (await demo.client.guidance.list.query({ workspaceId: workspace.id })).items[0];

  const fresh = await session(browser, url, FRESH, 'Pia Cornelia Turing');
  const emptyWorkspaceId = await ownWorkspace(fresh.client, 'Acme', 'Nothing here yet');
  const longWorkspaceId = await ownWorkspace(fresh.client, `${LONG} & Söhne`, LONG);
  const long = (await fresh.client.ideas.list.query({ workspaceId: longWorkspaceId })).items;
  const longIdea =
    long[0] ??
    (await fresh.client.ideas.create.mutate({
      workspaceId: longWorkspaceId,
      title: `${LONG}: ${'长标题没有空格也要能换行'.repeat(6)}`,
      body: {
        text: `${LONG.repeat(4)}\n\nhttps://example.com/${'a-very-long-path/'.repeat(8)}\n\n${'很长的一段中文，没有任何停顿'.repeat(12)}`,
      },
      tags: [LONG.slice(0, 30), '标'.repeat(30), 'ok'],
    }));
  return {
    subjects: {
      workspaceId: workspace.id,
      ideaId: idea.id,
      revisedIdeaId: revised.id,
      guidanceId: guidance?.id ?? null,
      emptyWorkspaceId,
      longWorkspaceId,
      longIdeaId: longIdea.id,
      invitation: await invitations(fresh.client, demo.client, emptyWorkspaceId),
    },
    demo: demo.state,
    fresh: fresh.state,
  };
}
