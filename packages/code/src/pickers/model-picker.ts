import type { ModelPrice } from "keelson/providers";
import type { KnownModel } from "../core/known-models.ts";
import { formatCount } from "../render/figures.ts";
import type { Choice, Picker } from "./list-picker.ts";
import { createListPicker } from "./list-picker.ts";
import type { OpenedPicker } from "./choose-from.ts";

export interface ModelPickerOptions extends OpenedPicker<string> {
  /** The model that is used now. */
  readonly current: string;
  /** Shown first. */
  readonly known: readonly KnownModel[];
  /** The models that the vendors list, which takes a while. They replace those of these vendors that are shown first. */
  readonly listed: Promise<readonly KnownModel[]>;
}

/** Has a person choose a model, with the price of a million tokens and the context window of each. */
export function createModelPicker({ style, current, known, listed, onDone, changed }: ModelPickerOptions): Picker {
  const picker = createListPicker<string>({
    title: "model",
    choices: choicesOf(current, known),
    style,
    initial: current,
    empty: "no models are listed; type one: /model provider/id",
    onDone,
  });
  listed.then(
    (models) => {
      if (models.length === 0) return;
      picker.setChoices(choicesOf(current, joined(models, known)));
      changed();
    },
    // Without the lists of vendors the models of the price table stay.
    () => {},
  );
  return picker;
}

/** A vendor that lists its models has those and no others. */
function joined(listed: readonly KnownModel[], known: readonly KnownModel[]): readonly KnownModel[] {
  const vendors = new Set(listed.map(({ reference }) => vendorOf(reference)));
  return [...listed, ...known.filter(({ reference }) => !vendors.has(vendorOf(reference)))];
}

function vendorOf(reference: string): string {
  return reference.slice(0, reference.indexOf("/"));
}

function choicesOf(current: string, models: readonly KnownModel[]): readonly Choice<string>[] {
  const others = models.filter(({ reference }) => reference !== current);
  const own = models.find(({ reference }) => reference === current) ?? { reference: current, price: null };
  return [own, ...others].map((model) => ({
    value: model.reference,
    label: model.reference,
    description: describeModel(model),
    ...(model.reference === current && { mark: "●" }),
  }));
}

/** Describes the window and the price of a model: `1M tokens · $2 in, $10 out`. */
export function describeModel({ contextWindow, price }: Omit<KnownModel, "reference">): string {
  return [contextWindow === undefined ? "window unknown" : `${formatCount(contextWindow)} tokens`, describePrice(price)].join(" · ");
}

function describePrice(price: ModelPrice | null): string {
  if (price === null) return "price unknown";
  if (Number(price.input) === 0 && Number(price.output) === 0) return "free";
  return `$${price.input} in, $${price.output} out`;
}
