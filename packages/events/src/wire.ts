import {
  type AnyDomainEvent,
  type DomainEvent,
  type EventName,
  UnknownEventError,
  upcast,
} from '@sparkroom/contract';
import { headers, type MsgHdrs } from 'nats';
import type { OutboxRow } from './outbox-port.ts';

/** Headers of an event in the stream; the message's body is the payload alone, as JSON. */
export const header = {
  id: 'Nats-Msg-Id',
  type: 'Ev-Type',
  schema: 'Ev-Schema',
  version: 'Agg-Version',
  aggregateType: 'Agg-Type',
  aggregateId: 'Agg-Id',
  workspace: 'Workspace-Id',
  actor: 'Actor-Id',
  request: 'Request-Id',
  at: 'Occurred-At',
  traceparent: 'traceparent',
} as const;

/** Header values are one line of printable ASCII; anything else, and `%` itself, is percent-encoded. */
export function encodeHeader(value: string): string {
  // toWellFormed: a lone surrogate would make encodeURIComponent throw.
  return value.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/g, (part) => encodeURIComponent(part));
}

/** Inverse of {@link encodeHeader}; text that is not validly encoded is taken as it is. */
export function decodeHeader(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Headers and body under which an outbox row is published. */
export function encodeRow(row: OutboxRow): { headers: MsgHdrs; data: Uint8Array } {
  const h = headers();
  const set = (name: string, value: string | number | null): void => {
    if (value !== null) h.set(name, encodeHeader(String(value)));
  };
  set(header.type, row.type);
  set(header.schema, row.schemaVersion);
  set(header.version, row.aggregateVersion);
  set(header.aggregateType, row.aggregateType);
  set(header.aggregateId, row.aggregateId);
  set(header.workspace, row.workspaceId);
  set(header.actor, row.actorId);
  set(header.request, row.requestId);
  set(header.at, row.createdAt);
  set(header.traceparent, row.traceparent);
  return { headers: h, data: new TextEncoder().encode(JSON.stringify(row.payload)) };
}

/** What of a message matters here; both delivered and stored messages have it. */
export interface RawMessage {
  subject: string;
  headers?: MsgHdrs;
  data: Uint8Array;
}

/**
 * The event's id. A message published again on purpose carries `<id>:r<n>`, so that the server does not swallow it.
 * A message from a stranger without an id gets one from its place in the stream.
 */
export function eventIdOf(message: RawMessage, seq: number): string {
  const id = message.headers?.get(header.id);
  return id ? decodeHeader(id).replace(/:r\d+$/, '') : `seq-${seq}`;
}

/** Name of the event, whether this program knows it or not. */
export function typeOf(message: RawMessage): string | null {
  const type = message.headers?.get(header.type);
  return type ? decodeHeader(type) : null;
}

/** All headers as plain text, for people to read. */
export function headersOf(message: RawMessage): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of message.headers?.keys() ?? [])
    found[name] = decodeHeader(message.headers?.get(name) ?? '');
  return found;
}

/** The body as data; as text when it is not JSON. */
export function bodyOf(message: RawMessage): unknown {
  const text = new TextDecoder().decode(message.data);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/**
 * The event in a message, its payload in the newest version.
 * @throws UnknownEventError for an unknown type, a newer schema version, or a message that is no event at all
 * @throws z.ZodError when the payload does not fit its declared version
 */
export function decodeEvent(message: RawMessage, seq: number): AnyDomainEvent {
  const get = (name: string): string | null => {
    const value = message.headers?.get(name);
    return value ? decodeHeader(value) : null;
  };
  const type = get(header.type);
  const aggregateType = get(header.aggregateType);
  const aggregateId = get(header.aggregateId);
  if (type === null || aggregateType === null || aggregateId === null)
    throw new UnknownEventError(
      `the message on ${message.subject} has no ${header.type} or aggregate header`,
    );
  const schemaVersion = Number(get(header.schema) ?? 1);
  const event: DomainEvent = {
    id: eventIdOf(message, seq),
    type: type as EventName,
    schemaVersion,
    aggregate: { type: aggregateType, id: aggregateId, version: Number(get(header.version) ?? 0) },
    workspaceId: get(header.workspace),
    actorId: get(header.actor),
    requestId: get(header.request),
    at: get(header.at) ?? '',
    payload: upcast(type, schemaVersion, bodyOf(message)) as DomainEvent['payload'],
    traceparent: get(header.traceparent),
  };
  return event as AnyDomainEvent;
}

/** A message again from what a dead letter keeps of it. */
export function rawOf(letter: {
  subject: string;
  headers: Record<string, string>;
  payload: unknown;
}): RawMessage {
  const h = headers();
  for (const [name, value] of Object.entries(letter.headers)) h.set(name, encodeHeader(value));
  return {
    subject: letter.subject,
    headers: h,
    data: new TextEncoder().encode(JSON.stringify(letter.payload)),
  };
}
