import { type Effect, type StateReader, type StoreOptions, type Tool, type ToolCall, ToolError } from "@keelson/protocol";
import { memoryMetadata } from "../session/remembered-items.ts";
import { defineTool } from "../tools/define-tool.ts";
import { type MemoryPlace, newItemId } from "./memory-item.ts";

export interface MemoryTerms extends MemoryPlace {
  /** As in `remember_fact`. */
  readonly name: string;
  readonly about: string;
  readonly store: StateReader;
  readonly contentKind: string;
  readonly now: () => number;
}

/** Of one item, so that a few fit into a context. */
const MAX_TEXT = 2000;
const TEXT = { type: "string", minLength: 1, maxLength: MAX_TEXT, description: "One statement that makes sense alone." } as const;
const ID = { type: "string", minLength: 1, maxLength: 100, description: "What stands in brackets before it." } as const;

type Text = { readonly text: string };
type Id = { readonly id: string };

/** What a model remembers, corrects and forgets, each as an effect, which is carried out before a compaction or when the run has its result. */
export function memoryTools(terms: MemoryTerms): readonly Tool[] {
  const { name, about, store, scope, prefix, contentKind, now } = terms;
  const options: StoreOptions = { contentKind, metadata: memoryMetadata(name) };
  return [
    defineTool<Text>({
      name: `remember_${name}`,
      description: `Keep one of the ${about} for later sessions. Keep what will still matter then, and no secrets.`,
      effect: "idempotent",
      input: { type: "object", properties: { text: TEXT }, required: ["text"], additionalProperties: false },
      execute({ text }, call) {
        const id = newItemId(now(), call.callId.slice(-6));
        declare(call, `remember_${name}`, { type: "write-memory", scope, key: prefix + id, value: text, options });
        return `It will be kept as [${id}] when this run is over.`;
      },
    }),
    defineTool<Id & Text>({
      name: `correct_${name}`,
      description: `Replace one of the ${about} that is not right any more.`,
      effect: "idempotent",
      input: { type: "object", properties: { id: ID, text: TEXT }, required: ["id", "text"], additionalProperties: false },
      async execute({ id, text }, call) {
        const { version: ifVersion } = await existing(terms, id);
        declare(call, `correct_${name}`, {
          type: "write-memory",
          scope,
          key: prefix + id,
          value: text,
          options: { ...options, ifVersion },
        });
        return `[${id}] will be corrected when this run is over.`;
      },
    }),
    defineTool<Id>({
      name: `forget_${name}`,
      description: `Forget one of the ${about}, for good.`,
      effect: "idempotent",
      input: { type: "object", properties: { id: ID }, required: ["id"], additionalProperties: false },
      async execute({ id }, call) {
        await existing(terms, id);
        declare(call, `forget_${name}`, { type: "delete-memory", scope, key: prefix + id });
        return `[${id}] will be forgotten when this run is over.`;
      },
    }),
  ];

  async function existing({ about: what }: MemoryTerms, id: string): Promise<{ readonly version: number }> {
    const stored = await store.read(scope, prefix + id);
    if (stored !== undefined) return stored;
    throw new Error(
      `None of the ${what} has the id "${id}". Use one that stands in brackets in what you were told as remembered; what this run keeps can be changed by the next.`,
    );
  }
}

function declare(call: ToolCall, tool: string, effect: Effect): void {
  if (call.declare === undefined)
    throw new ToolError({
      kind: "execution-failed",
      tool,
      message: `The tool "${tool}" declares an effect, and nobody here takes it: call it in a run`,
    });
  call.declare(effect);
}
