import type { EventHub } from "../../turn/events/event-hub.ts";
import type { EventSubscription } from "../../turn/events/event-subscription.ts";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import type { Loop } from "../../turn/loop.ts";
import { showHooks } from "./ask-hooks.ts";
import { warnOfHook } from "./call-hook.ts";
import type { HookRegistration } from "../../definition/hooks/hook.ts";
import { hooksAt, hooksOf, type WatchingHooks } from "./loop-hooks.ts";

/** Failures of one hook that are told. It may fail at each piece of a response. */
const MAX_TOLD = 3;

/**
 * Shows the events of a run to the hooks that are told of them: a watcher like any other, so that a slow hook holds up nothing
 * and finds, of what it missed, what other watchers would find.
 */
export class EventHooks implements WatchingHooks {
  isHidden = false;
  readonly watcher: EventSubscription;
  readonly #hub: EventHub;
  readonly #loop: Loop;
  readonly #failures = new Map<HookRegistration, number>();
  readonly #shown: Promise<void>;
  #endedAt: number | undefined;

  constructor(loop: Loop, hub: EventHub) {
    this.#hub = hub;
    this.#loop = loop;
    this.watcher = hub.subscribe();
    this.#shown = this.#show();
  }

  get isOver(): boolean {
    return this.#hub.isOver;
  }

  end(): Promise<void> {
    this.#endedAt = this.#loop.execution.clock.now();
    return this.#shown;
  }

  async #show(): Promise<void> {
    const loop = this.#loop;
    try {
      for await (const event of this.watcher) {
        const hooks = hooksAt(loop, "event", event.type);
        if (hooks === undefined) continue;
        if (this.#isLate(hooks)) {
          warnOfHook(loop, "event", `the event hooks of run ${loop.execution.runId} were left behind, before its "${event.type}"`);
          return;
        }
        const about = { point: "event", hooks, payload: { event } } as const;
        await showHooks(loop, about, { untilEnd: true, warn: (hook, problem) => this.#warn(hook, problem) });
      }
    } catch (error) {
      warnOfHook(loop, "event", `the event hooks of run ${loop.execution.runId} are shown nothing more: ${describeThrown(error)}`);
    }
  }

  #isLate(hooks: readonly HookRegistration[]): boolean {
    if (this.#endedAt === undefined) return false;
    return this.#loop.execution.clock.now() - this.#endedAt > Math.max(...hooks.map(({ timeoutMs }) => timeoutMs));
  }

  #warn(hook: HookRegistration, problem: string): void {
    const failures = (this.#failures.get(hook) ?? 0) + 1;
    this.#failures.set(hook, failures);
    if (failures > MAX_TOLD) return;
    const more = failures === MAX_TOLD ? " (it goes on being shown events, and no more of its failures are told)" : "";
    warnOfHook(this.#loop, "event", `hook "${hook.name}" at event ${problem}${more}`);
  }
}

/** Shows the events from here on to the hooks of the agent that are told of them. */
export function notifyEventHooks(loop: Loop, hub: EventHub): void {
  const hooks = hooksOf(loop);
  if (hooks?.byPoint.event !== undefined) hooks.events = new EventHooks(loop, hub);
}
