export { type Advisory, countAdvisories, readAdvisories } from './advisories.ts';
export { type Auditor, type AuditorOptions, type Finding, startAuditor } from './auditor.ts';
export { type ChangeFeed, type ChangeFeedOptions, openChangeFeed } from './change-feed.ts';
export {
  connectEvents,
  type Events,
  type EventsSettings,
  maxEventBytes,
  readEventsSettings,
  wakeSubject,
} from './connection.ts';
export {
  type Consumer,
  type ConsumerFigures,
  type ConsumerOptions,
  type ConsumerStart,
  type Delivery,
  GapError,
  inTurn,
  NotYetError,
  startConsumer,
} from './consumer.ts';
export {
  type FeedItem,
  type LiveFeed,
  type LiveFeedOptions,
  openLiveFeed,
  type Subscription,
} from './live-feed.ts';
export type { Log } from './log.ts';
export type {
  AuditPort,
  DeadLetter,
  InboxPort,
  OutboxPort,
  OutboxRow,
  OutboxSession,
  Placed,
} from './outbox-port.ts';
export { type NatsUser, subscriberUser, sureSubscriber } from './outsiders.ts';
export type { Stored } from './publisher.ts';
export { type Relay, type RelayMetrics, type RelayOptions, startRelay } from './relay.ts';
export { type Replay, startReplay } from './replay.ts';
