import type { JsonObject, ObservableEvent } from "@keelson/protocol";

/** Receives facts about the work of tools. It is always there, and may be off. */
export interface Telemetry {
  readonly isOn: boolean;
  record(name: string, attributes?: JsonObject): void;
}

/** Records nothing. */
export const NO_TELEMETRY: Telemetry = { isOn: false, record() {} };

export interface TelemetryOptions {
  /** Receives each fact. One that throws is not called again, because a tool must not fail by it. */
  readonly listener: (event: ObservableEvent) => void;
  /** Unix ms. */
  readonly now?: () => number;
  /** Attributes of every event, such as the session. */
  readonly attributes?: JsonObject;
}

export function createTelemetry({ listener, now = Date.now, attributes = {} }: TelemetryOptions): Telemetry {
  let isOn = true;
  return {
    get isOn() {
      return isOn;
    },
    record(name, own = {}) {
      if (!isOn) return;
      try {
        listener({ name, at: now(), attributes: { ...attributes, ...own } });
      } catch {
        isOn = false; // it shows: `isOn` is part of the interface
      }
    },
  };
}
