import type { JsonObject, JsonValue, ToolSchema } from "@keelson/protocol";

/** The chat templates whose markup of tool calls is known, by the model family that writes it. */
export type CallMarkupName = "hermes" | "qwen-xml" | "kimi" | "deepseek" | "harmony" | "python-tag" | "mistral";

/** A call that is written in markup. `input` is the text of its arguments. */
export interface MarkedCall {
  readonly name: string;
  readonly input: string;
}

export interface CallMarkup {
  /** One of these begins the text. */
  readonly openers: readonly string[];
  /** The first mark of a list of calls, and the last. */
  readonly begin?: RegExp;
  readonly end?: RegExp;
  /** One call, from the place on at which the last one ended. */
  readonly call: RegExp;
  /** Returns the calls of one match, or `undefined` if it is not a call. */
  read(match: RegExpExecArray, tools: readonly ToolSchema[]): readonly MarkedCall[] | undefined;
}

const named = (match: RegExpExecArray): readonly MarkedCall[] | undefined => {
  const input = objectText(match.groups?.["input"] ?? "");
  return input === undefined ? undefined : [{ name: match.groups?.["name"] ?? "", input }];
};
const described = (match: RegExpExecArray): readonly MarkedCall[] | undefined => describedCalls(match.groups?.["input"] ?? "");

/** Sources: the chat templates that the model families publish. */
export const CALL_MARKUPS: { readonly [name in CallMarkupName]: CallMarkup } = {
  "hermes": {
    openers: ["<tool_call>"],
    call: /\s*<tool_call>\s*(?<input>\{[\s\S]*?\})\s*(?:<\/tool_call>\s*|$)/y,
    read: described,
  },
  "qwen-xml": {
    openers: ["<tool_call>", "<function="],
    call: /\s*(?:<tool_call>\s*)?<function=(?<name>[^<>\s]+)>\s*(?<input>(?:<parameter=[^<>]+>[\s\S]*?<\/parameter>\s*)*)<\/function>\s*(?:<\/tool_call>\s*)?/y,
    read: ({ groups = {} }, tools) => {
      const { name = "", input = "" } = groups;
      const properties = tools.find((tool) => tool.name === name)?.inputSchema["properties"] as JsonObject | undefined;
      const members = [...input.matchAll(/<parameter=([^<>]+)>\n?([\s\S]*?)\n?<\/parameter>/g)].map(
        ([, key = "", text = ""]) => `${JSON.stringify(key.trim())}:${valueText(text, properties?.[key.trim()])}`,
      );
      return [{ name, input: `{${members.join(",")}}` }];
    },
  },
  "kimi": {
    openers: ["<|tool_calls_section_begin|>", "<|tool_call_begin|>"],
    begin: /\s*<\|tool_calls_section_begin\|>/y,
    end: /<\|tool_calls_section_end\|>\s*$/,
    call: /\s*<\|tool_call_begin\|>\s*(?:functions\.)?(?<name>[^<>\s:]+)(?::\d+)?\s*<\|tool_call_argument_begin\|>\s*(?<input>\{[\s\S]*?\})\s*<\|tool_call_end\|>\s*/y,
    read: named,
  },
  "deepseek": {
    openers: ["<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>"],
    begin: /\s*<｜tool▁calls▁begin｜>/y,
    end: /<｜tool▁calls▁end｜>(?:<｜end▁of▁sentence｜>)?\s*$/,
    call: /\s*<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>(?<old>[^<>\s]+)\s*```json\s*(?<fenced>\{[\s\S]*?\})\s*```|(?<name>[^<>\s]+)<｜tool▁sep｜>\s*(?<input>\{[\s\S]*?\}))\s*<｜tool▁call▁end｜>\s*/y,
    read: ({ groups = {} }) => {
      const input = objectText(groups["fenced"] ?? groups["input"] ?? "");
      return input === undefined ? undefined : [{ name: groups["old"] ?? groups["name"] ?? "", input }];
    },
  },
  "harmony": {
    openers: ["<|channel|>commentary", "<|start|>assistant"],
    call: /\s*(?:<\|start\|>assistant)?(?: to=functions\.(?<first>[\w.-]+))?<\|channel\|>commentary(?: to=functions\.(?<name>[\w.-]+))?\s*(?:<\|constrain\|>)?(?:json)?\s*<\|message\|>\s*(?<input>\{[\s\S]*?\})\s*(?:<\|call\|>\s*|$)/y,
    read: ({ groups = {} }) => {
      const input = objectText(groups["input"] ?? "");
      const name = groups["name"] ?? groups["first"];
      return input === undefined || name === undefined ? undefined : [{ name, input }];
    },
  },
  "python-tag": {
    openers: ["<|python_tag|>"],
    call: /\s*<\|python_tag\|>\s*(?<input>\{[\s\S]*?\})\s*(?:<\|e(?:om|ot)_id\|>\s*|$)/y,
    read: described,
  },
  "mistral": {
    openers: ["[TOOL_CALLS]"],
    call: /\s*\[TOOL_CALLS\]\s*(?:(?<name>[\w.-]+)(?:\[CALL_ID\]\w+)?\[ARGS\]\s*(?<args>\{[\s\S]*?\})\s*(?=\[TOOL_CALLS\]|<\/s>|$)|(?<input>\[[\s\S]*\])\s*)(?:<\/s>\s*)?/y,
    read: ({ groups = {} }) => {
      if (groups["name"] === undefined) return describedCalls(groups["input"] ?? "");
      const input = objectText(groups["args"] ?? "");
      return input === undefined ? undefined : [{ name: groups["name"], input }];
    },
  },
};

/** The calls of a text that is nothing but markup of these kinds; `undefined` if anything else is in it. */
export function readCallMarkup(
  text: string,
  kinds: readonly CallMarkupName[],
  tools: readonly ToolSchema[],
): readonly MarkedCall[] | undefined {
  const trimmed = text.trim();
  for (const kind of kinds) {
    const calls = readAs(CALL_MARKUPS[kind], trimmed, tools);
    if (calls !== undefined) return calls;
  }
  return undefined;
}

function readAs({ begin, end, call, read }: CallMarkup, text: string, tools: readonly ToolSchema[]): readonly MarkedCall[] | undefined {
  let at = 0;
  if (begin !== undefined) {
    begin.lastIndex = 0;
    if (begin.test(text)) at = begin.lastIndex;
  }
  const last = end === undefined ? text.length : (end.exec(text)?.index ?? text.length);
  const body = text.slice(0, last);
  const calls: MarkedCall[] = [];
  while (at < body.length) {
    call.lastIndex = at;
    const match = call.exec(body);
    const found = match === null ? undefined : read(match, tools);
    if (match === null || found === undefined) return undefined;
    calls.push(...found);
    at += match[0].length;
  }
  return calls.length === 0 ? undefined : calls;
}

/** Calls that are written as `{"name": …, "arguments": …}`, alone or in a list. */
function describedCalls(text: string): readonly MarkedCall[] | undefined {
  const value = parsed(text);
  if (value === undefined) return undefined;
  const calls: MarkedCall[] = [];
  for (const one of (Array.isArray(value) ? value : [value]) as readonly JsonValue[]) {
    if (typeof one !== "object" || one === null || Array.isArray(one)) return undefined;
    const { name, arguments: input, parameters = {}, id: _, type, ...more } = one as JsonObject;
    if (typeof name !== "string" || Object.keys(more).length > 0 || (type !== undefined && type !== "function")) return undefined;
    const given = input ?? parameters;
    const inputText = typeof given === "string" ? objectText(given) : objectText(JSON.stringify(given));
    if (inputText === undefined) return undefined;
    calls.push({ name, input: inputText });
  }
  return calls;
}

function objectText(text: string): string | undefined {
  const value = parsed(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? text : undefined;
}

/** Numbers that a double does not hold would be changed by reading them: such markup is left as text. */
function parsed(text: string): JsonValue | undefined {
  if (/\d{16}/.test(text)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The JSON text of a parameter, by the type that the schema of the tool gives it. */
function valueText(text: string, schema: JsonValue | undefined): string {
  const type = (schema as JsonObject | undefined)?.["type"];
  if (type === undefined || type === "string" || (Array.isArray(type) && type.includes("string"))) return JSON.stringify(text);
  const given = type === "boolean" ? text.trim().toLowerCase() : text.trim();
  return parsed(given) === undefined && !/^-?\d{1,400}$/.test(given) ? JSON.stringify(text) : given;
}
