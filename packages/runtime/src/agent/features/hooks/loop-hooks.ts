import type { HookPoint } from "@keelson/protocol";
import { sealHooks, type HookRegistry, type HooksByPoint, type RegisteredHook } from "../../definition/hooks/hook-registry.ts";
import type { EventSubscription } from "../../turn/events/event-subscription.ts";
import type { Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";

/** What shows a run's events to hooks, to those who must not show them what is about themselves. */
export interface WatchingHooks {
  /** What is emitted now is about such a hook, and not shown to any. */
  isHidden: boolean;
  /** Whether a warning reaches nobody who watches the run any more. */
  readonly isOver: boolean;
  readonly watcher: EventSubscription;
  /** The stream has ended. Resolves once the hooks were shown what was left; they get as long for it as for one event. */
  end(): Promise<void>;
}

/** The hooks of one run at work. Runs without hooks have none of it. */
export interface LoopHooks {
  readonly byPoint: HooksByPoint;
  /** Hooks look at results of tools. */
  readonly afterTools: boolean;
  /** The matchers were compared with the tools that are there. */
  isChecked: boolean;
  /** The run was taken up again, and no hook has been told yet. */
  resumed: boolean;
  /** Notifications on their way, one after another. */
  notifying: Promise<void>;
  queued: number;
  /** What is emitted now is about a notification hook: no reason to notify again. */
  quiet: boolean;
  /** Absent where no hook is told of events. */
  events?: WatchingHooks;
}

function loopHooks(registry: HookRegistry | undefined): LoopHooks | undefined {
  const byPoint = registry && sealHooks(registry);
  if (byPoint === undefined) return undefined;
  return {
    byPoint,
    afterTools: byPoint["post-tool-use"] !== undefined || byPoint["post-tool-use-failure"] !== undefined,
    isChecked: false,
    resumed: false,
    notifying: Promise.resolve(),
    queued: 0,
    quiet: false,
  };
}

/** The hooks of a point that are about `subject`, in the order of their registration; nothing where there is none. */
export function hooksAt<P extends HookPoint>(loop: Loop, point: P, subject: string | undefined): readonly RegisteredHook<P>[] | undefined {
  const registered = hooksOf(loop)?.byPoint[point] as readonly RegisteredHook<P>[] | undefined;
  if (registered === undefined) return undefined;
  const found = registered.filter((hook) => hook.matches(subject));
  return found.length === 0 ? undefined : found;
}

const HOOKS = new PartKey<LoopHooks>("hooks");

/** The hooks of a run whose agent has some. */
export function hooksOf({ parts }: Loop): LoopHooks | undefined {
  return parts.get(HOOKS);
}

export function bindHooks({ parts, agent }: Loop): void {
  parts.set(HOOKS, loopHooks(agent.options.hooks));
}
