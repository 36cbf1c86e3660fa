import type {
  BudgetAmount,
  CallId,
  EndReason,
  EstimatedCalls,
  Failure,
  JsonObject,
  JsonValue,
  RunId,
  SessionId,
  Usage,
  Usd,
} from "@keelson/protocol";

/** An agent, a task or a job that a run started, as its log tells of it. */
export interface ChildState {
  readonly kind: "agent" | "task" | "job";
  /** Run id of an agent, id of a task or of a job. */
  readonly id: string;
  /** An agent's name among its siblings, a task's description, the command of a job. */
  readonly name: string;
  readonly agent?: string;
  readonly session?: SessionId;
  readonly callId?: CallId;
  /** What work beside the turns was started with. Absent: a call waits for this child. */
  readonly background?: JsonValue;
  status: "working" | EndReason;
  /** It was told to stop. */
  stopping?: true;
  /** How it ended, where nobody could be told yet: the run waits for something else. */
  settled?: ChildEnding;
}

/** How work beside the turns ended, with what there was of it. */
export type ChildEnding = {
  readonly reason: EndReason;
  /** The last response of an agent; of a task nothing. */
  readonly text: string;
  /** What a task returned, or what the model is told of the end of a job. */
  readonly value?: JsonValue;
  readonly failure?: Failure;
  readonly usage?: Usage;
  readonly cost?: Usd | null;
  readonly estimated?: EstimatedCalls;
  readonly counts?: Pick<Required<BudgetAmount>, "turns" | "toolCalls" | "modelCalls">;
  /** Where untrusted text in its conversation came from. */
  readonly untrusted?: readonly string[];
};

export interface Children {
  readonly all: Map<string, ChildState>;
  /** Work beside the turns that is not recorded as over. */
  openBackground: number;
}

/** Children that are over and still listed; the oldest are forgotten first. */
export const MAX_ENDED_CHILDREN: number = 1000;

export type ChildStart = {
  readonly child: RunId;
  readonly session: SessionId;
  readonly agent: string;
  readonly callId?: CallId;
  readonly background?: { readonly name: string; readonly config: JsonObject };
};

export function addChild(children: Children | undefined, data: ChildStart): Children {
  const { child, session, agent, callId, background } = data;
  return add(children, {
    kind: "agent",
    id: child,
    name: background?.name ?? agent,
    agent,
    session,
    ...(callId && { callId }),
    ...(background && { background: background.config }),
    status: "working",
  });
}

export function addTask(children: Children | undefined, taskId: string, payload: JsonValue): Children {
  const { description, input, job } = payload as { readonly description: string; readonly input: JsonValue; readonly job?: boolean };
  if (job === true) return add(children, { kind: "job", id: taskId, name: description, background: null, status: "working" });
  return add(children, { kind: "task", id: taskId, name: description, background: input, status: "working" });
}

export function endChild(children: Children | undefined, id: string, reason: EndReason): void {
  const child = children?.all.get(id);
  if (children === undefined || child === undefined || child.status !== "working") return;
  child.status = reason;
  delete child.settled;
  if (child.background !== undefined) children.openBackground--;
  if (children.all.size <= MAX_ENDED_CHILDREN) return;
  for (const [oldest, { status }] of children.all) {
    if (status === "working") continue;
    children.all.delete(oldest);
    return;
  }
}

export function markStopping(children: Children | undefined, id: string): void {
  const child = children?.all.get(id);
  if (child?.status === "working") child.stopping = true;
}

export function markSettled(children: Children | undefined, id: string, ending: ChildEnding): void {
  const child = children?.all.get(id);
  if (child?.status === "working") child.settled = ending;
}

function add(children: Children | undefined, child: ChildState): Children {
  const known = children ?? { all: new Map<string, ChildState>(), openBackground: 0 };
  if (known.all.has(child.id)) return known;
  known.all.set(child.id, child);
  if (child.background !== undefined) known.openBackground++;
  return known;
}
