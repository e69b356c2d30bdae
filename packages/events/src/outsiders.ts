import { subjectToken } from '@sparkroom/contract';
import type { JetStreamManager } from 'nats';
import { apiCode, apiCodes, type Events, inboxOf, nanos, reaching } from './connection.ts';

/** An entry of `authorization.users` in the configuration of a NATS server. */
export interface NatsUser {
  user: string;
  password: string;
  permissions?: {
    publish: { allow: string[] };
    subscribe: { allow: string[] };
  };
}

const nameOf = (name: string): string => {
  if (/^[a-z][a-z0-9-]{1,39}$/.test(name) && name !== 'sparkroom') return name;
  throw new Error('The name of a subscriber must be 2 to 40 lower-case letters, digits and dashes');
};

/**
 * A subscriber from outside and what it may do: hear one workspace's events, ask for and acknowledge those of its own
 * durable. It may not make consumers: the server would deliver to whatever subject such a consumer names, with rights of
 * its own, so {@link sureSubscriber} makes the durable.
 * @throws Error when the name is not fit to be part of a subject
 */
export function subscriberUser(
  prefix: string,
  subscriber: { name: string; password: string; workspaceId: string },
): NatsUser {
  const name = nameOf(subscriber.name);
  const stream = prefix.toUpperCase();
  return {
    user: name,
    password: subscriber.password,
    permissions: {
      publish: {
        allow: [
          `$JS.API.CONSUMER.INFO.${stream}.${name}`,
          `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`,
          `$JS.ACK.${stream}.${name}.>`,
        ],
      },
      subscribe: {
        allow: [`${inboxOf(name)}.>`, `${prefix}.${subjectToken(subscriber.workspaceId)}.>`],
      },
    },
  };
}

/**
 * Makes the durable from which a subscriber reads one workspace, or leaves it as it is.
 * @param start 'new' (default) from now on, 'all' from what is in the stream
 * @throws StoreUnavailableError when NATS cannot be reached
 */
export async function sureSubscriber(
  events: Events,
  subscriber: { name: string; workspaceId: string; start?: 'all' | 'new' },
): Promise<void> {
  const name = nameOf(subscriber.name);
  const { manager, stream, prefix } = events;
  await events.ensureStream();
  try {
    await reaching(() => manager.consumers.info(stream, name));
    return;
  } catch (error) {
    if (apiCode(error) !== apiCodes.consumerNotFound) throw error;
  }
  await reaching(() =>
    manager.consumers.add(stream, {
      durable_name: name,
      filter_subject: `${prefix}.${subjectToken(subscriber.workspaceId)}.>`,
      ack_policy: 'explicit',
      ack_wait: nanos(30_000),
      deliver_policy: subscriber.start ?? 'new',
      replay_policy: 'instant',
      max_deliver: -1,
      max_ack_pending: 256,
    } as Parameters<JetStreamManager['consumers']['add']>[1]),
  );
}
