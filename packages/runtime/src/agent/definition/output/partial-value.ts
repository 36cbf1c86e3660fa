/** A value of which the end is still to come: members may be missing, lists may be shorter, the last text may go on. */
export type PartialValue<T> = T extends readonly (infer Item)[]
  ? readonly PartialValue<Item>[]
  : T extends (...parameters: never[]) => unknown
    ? T
    : T extends object
      ? { readonly [K in keyof T]?: PartialValue<T[K]> | undefined }
      : T;
