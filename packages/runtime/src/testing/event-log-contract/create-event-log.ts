import type { EventLog } from "@keelson/protocol";

/** Creates an empty log whose times come from `now`. */
export type CreateEventLog = (now: () => number) => EventLog | Promise<EventLog>;
