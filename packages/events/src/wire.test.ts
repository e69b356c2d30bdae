import fc from 'fast-check';
import { headers } from 'nats';
import { describe, expect, it } from 'vitest';
import type { OutboxRow } from './outbox-port.ts';
import { decodeEvent, decodeHeader, encodeHeader, encodeRow, eventIdOf } from './wire.ts';

const row: OutboxRow = {
  id: '1',
  eventId: '01JDXF7Z5N8M3QK2VW4RT6YH9P',
  aggregateType: 'idea',
  aggregateId: 'İdea.1',
  aggregateVersion: 3,
  workspaceId: null,
  actorId: null,
  requestId: null,
  type: 'idea.bodyStored',
  schemaVersion: 1,
  subject: '_.idea.x',
  payload: { bodyVersion: 2 },
  traceparent: null,
  createdAt: '2026-11-30T09:12:05.123456Z',
  firstAttemptAt: null,
  attempts: 0,
  republished: 0,
};

describe('wire', () => {
  it('brings any text through a header, as printable ASCII', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const encoded = encodeHeader(text);
        expect(encoded).toMatch(/^[\x20-\x7e]*$/);
        expect(decodeHeader(encoded)).toBe(text);
      }),
    );
    expect(encodeHeader('a\r\nX: y')).not.toMatch(/[\r\n]/);
    expect(() => encodeHeader('\ud800')).not.toThrow();
  });

  it('leaves absent values out and reads them as null', () => {
    const message = { subject: 's', ...encodeRow(row) };
    message.headers.set('Nats-Msg-Id', row.eventId);
    expect(message.headers.has('Workspace-Id')).toBe(false);
    expect(decodeEvent(message, 9)).toMatchObject({
      id: row.eventId,
      aggregate: { type: 'idea', id: 'İdea.1', version: 3 },
      workspaceId: null,
      actorId: null,
      payload: { bodyVersion: 2 },
    });
  });

  it('sees through the suffix of an event that was published again', () => {
    const h = headers();
    h.set('Nats-Msg-Id', `${row.eventId}:r12`);
    expect(eventIdOf({ subject: 's', headers: h, data: new Uint8Array() }, 5)).toBe(row.eventId);
    expect(eventIdOf({ subject: 's', data: new Uint8Array() }, 5)).toBe('seq-5');
  });

  it('calls a message that is no event unknown instead of failing on it', () => {
    expect(() => decodeEvent({ subject: 's', data: new Uint8Array([1]) }, 1)).toThrow(/no Ev-Type/);
  });
});
