let listener: (() => void) | null = null;

/** Calls `handler` when an answer says that the session is over. One handler at a time: the last one given. */
export function onSessionEnd(handler: (() => void) | null): void {
  listener = handler;
}

/** To be called when an answer says UNAUTHENTICATED. */
export function sessionEnded(): void {
  listener?.();
}
