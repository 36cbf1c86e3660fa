import { digestOf } from "../../json/index.ts";
import type { CompleteArgument, ServedPrompt, ServedPromptMessage } from "./mcp-server-options.ts";
import type { Serving } from "./serving.ts";
import { wireContent } from "./wire-content.ts";

/** As many values as the protocol takes. */
const MAX_VALUES = 100;

export function servePrompts(serving: Serving): void {
  const { core, server, rounds } = serving;
  const find = (name: string): ServedPrompt => {
    const prompt = core.prompts().find((one) => one.name === name);
    if (prompt === undefined) throw serving.invalid(`There is no prompt ${JSON.stringify(name)}.`);
    return prompt;
  };

  server.setRequestHandler("prompts/list", ({ params }) => {
    const { items, nextCursor } = serving.page(core.prompts(), ({ name }) => name, params?.cursor);
    return { prompts: items.map(listed), ...(nextCursor !== undefined && { nextCursor }) };
  });

  server.setRequestHandler("prompts/get", async ({ params }, context) => {
    const prompt = find(params.name);
    const given = params.arguments ?? {};
    const missing = (prompt.arguments ?? []).filter(({ name, required }) => required === true && given[name] === undefined);
    if (missing.length > 0)
      throw serving.invalid(`The prompt ${prompt.name} needs ${missing.map(({ name }) => JSON.stringify(name)).join(", ")}.`);
    return (await rounds.take<object>(serving.origin(context), {
      subject: digestOf(["prompts/get", params.name, given]),
      mayRepeat: true,
      async do({ open }) {
        const got = await prompt.get(given, open.request);
        const messages: readonly ServedPromptMessage[] = typeof got === "string" ? [{ role: "user", content: got }] : got;
        return {
          ...(prompt.description !== undefined && { description: prompt.description }),
          messages: messages.flatMap(wireMessages),
        };
      },
      lost: () => ({ messages: [] }),
    })) as never;
  });

  server.setRequestHandler("completion/complete", async ({ params: { ref, argument, context } }) => {
    const complete =
      ref.type === "ref/prompt" ? completionOfPrompt(find(ref.name), argument.name) : completionOfTemplate(ref.uri, argument.name);
    const values = (await complete?.(argument.value, context?.arguments ?? {})) ?? [];
    return { completion: { values: values.slice(0, MAX_VALUES), total: values.length, hasMore: values.length > MAX_VALUES } };
  });

  function completionOfTemplate(uri: string, variable: string): CompleteArgument | undefined {
    const template = core.resources().find((resource) => "uriTemplate" in resource && resource.uriTemplate === uri);
    if (template === undefined || !("uriTemplate" in template))
      throw serving.invalid(`There is no resource template ${JSON.stringify(uri)}.`);
    return template.complete?.[variable];
  }
}

function completionOfPrompt(prompt: ServedPrompt, argument: string): CompleteArgument | undefined {
  return prompt.arguments?.find(({ name }) => name === argument)?.complete;
}

function listed({ name, title, description, arguments: given }: ServedPrompt): { name: string } {
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(given !== undefined && {
      arguments: given.map((argument) => ({
        name: argument.name,
        ...(argument.description !== undefined && { description: argument.description }),
        ...(argument.required !== undefined && { required: argument.required }),
      })),
    }),
  };
}

function wireMessages({ role, content }: ServedPromptMessage): readonly object[] {
  if (typeof content === "string") return [{ role, content: { type: "text", text: content } }];
  return content.map((part) => ({ role, content: wireContent(part) }));
}
