import type { Json, JsonObject } from "../../thread/plain-data.ts";
import * as shapes from "./shape.ts";
import type { Shape } from "./shape.ts";

/**
 * The form of a value: how it is checked, and what a redaction leaves of it. Figures, marks and words of a fixed list
 * stay. Texts and JSON are dropped unless they are marked with `keep`, or have another rule here. So are members of an
 * object that its form does not list.
 */
export interface Form<Value> {
  readonly shape: Shape;
  /** Returns the value without its content. Undefined: a redaction drops the value. */
  readonly redact: Redact<Value> | undefined;
}

/** A form whose values stay, without their content. A required member needs one. */
export interface Lasting<Value> extends Form<Value> {
  readonly redact: Redact<Value>;
}

type Redact<Value> = (value: Value) => Value;

/** A form of some value. */
interface Some {
  readonly shape: Shape;
  readonly redact: ((value: never) => unknown) | undefined;
}

/** The form of a member that may be absent. */
interface Optional<Value> extends Form<Value> {
  readonly optional: true;
}

/** A form for each member of a type. A member without a form does not compile. */
export type Members<Of> = {
  readonly [Name in keyof Of]-?: undefined extends Of[Name]
    ? Optional<Exclude<Of[Name], undefined>>
    : Lasting<Of[Name]>;
};

/** The text that replaces redacted content. */
export const redactedText = "[redacted]";

/** Keeps a value as it is. */
export const keep = <Value>({ shape }: Form<Value>): Lasting<Value> => ({ shape, redact: (value) => value });

/** Replaces a value as a whole. */
export const replaced = <Value>({ shape }: Form<Value>, by: Value): Lasting<Value> => ({ shape, redact: () => by });

const lasting = <Value>(shape: Shape): Lasting<Value> => keep({ shape, redact: undefined });

export const text: Form<string> = { shape: shapes.text, redact: undefined };
export const json: Form<Json> = { shape: shapes.json, redact: undefined };
export const jsonObject: Form<JsonObject> = { shape: shapes.jsonObject, redact: undefined };
export const bool: Lasting<boolean> = lasting(shapes.bool);
export const number: Lasting<number> = lasting(shapes.number);
export const count: Lasting<number> = lasting(shapes.count);
export const mark: Lasting<true> = lasting(shapes.trueOrAbsent);

/** A text with content. An empty one stays empty, since that is part of the structure. */
export const words: Lasting<string> = { shape: shapes.text, redact: (value) => (value === "" ? "" : redactedText) };

/** A provider's value, which stays if it looks like a name. A sentence is redacted. */
export const nameOrWords: Lasting<string> = {
  shape: shapes.text,
  redact: (value) => (/^[\w.:-]{0,64}$/.test(value) ? value : redactedText),
};

export const oneOf = <const Known extends string | number>(...known: readonly Known[]): Lasting<Known> =>
  lasting(shapes.oneOf(...known));

/** The member that names the kind of an object. `byTag` has checked it. */
export const tag = <const Kind extends string>(_: Kind): Lasting<Kind> => lasting(() => null);

export const optional = <Value>({ shape, redact }: Form<Value>): Optional<Value> => ({
  shape: shapes.optional(shape),
  redact,
  optional: true,
});

export const nullable = <Value>({ shape, redact }: Lasting<Value>): Lasting<Value | null> => ({
  shape: shapes.nullable(shape),
  redact: (value) => (value === null ? null : redact(value)),
});

export const list = <Item>({ shape, redact }: Lasting<Item>): Lasting<readonly Item[]> => ({
  shape: shapes.list(shape),
  redact: (items) => items.map((item) => redact(item)),
});

/** A value of one of two forms; `isFirst` tells them apart. */
export const either = <First, Second>(
  isFirst: (value: unknown) => boolean,
  first: Lasting<First>,
  second: Lasting<Second>,
): Lasting<First | Second> => ({
  shape: (value) => (isFirst(value) ? first : second).shape(value),
  // The value has the form by which it was checked.
  redact: (value) => (isFirst(value) ? first.redact(value as First) : second.redact(value as Second)),
});

export const textOr = <Value>({ shape, redact }: Lasting<Value>): Lasting<string | Value> => ({
  shape: (value) => (typeof value === "string" ? null : shape(value)),
  redact: (value) => (typeof value === "string" ? words.redact(value) : redact(value)),
});

/** Adds a rule that the type cannot express. `what` says what the value must be. */
export const ruled = <Value>(
  { shape, redact }: Lasting<Value>,
  isFitting: (value: Value) => boolean,
  what: string,
): Lasting<Value> => ({
  // The rule reads a value that has passed the check.
  shape: (value) => shape(value) ?? (isFitting(value as Value) ? null : shapes.mustBe(what, value)),
  redact,
});

/** An object with these members. It may have others: a later version may have written them. */
export const object = <Of extends object>(members: Members<Of>): Lasting<Of> => formOf(members, shapes.object);

/** An object with these members and no others. */
export const closed = <Of extends object>(members: Members<Of>): Lasting<Of> => formOf(members, shapes.closed);

const formOf = <Of extends object>(
  members: Members<Of>,
  shapeOf: (members: { readonly [name: string]: Shape }) => Shape,
): Lasting<Of> => {
  // A mapped type hides that each of its members is a form.
  const forms = Object.entries<Some>(members as never);
  return {
    shape: shapeOf(Object.fromEntries(forms.map(([name, { shape }]) => [name, shape]))),
    redact: (value) => {
      const left: { [name: string]: unknown } = {};
      for (const [name, { redact }] of forms) {
        // The form is that of the member with its name.
        const member = value[name as keyof Of] as never;
        if (redact !== undefined && member !== undefined) left[name] = redact(member);
      }
      // By their type, the forms keep every required member.
      return left as Of;
    },
  };
};

/** An object whose kind is named by one of its members. Each kind needs a form. */
export const byTag = <Of extends object, Tag extends keyof Of>(
  tag: Tag & string,
  kinds: { readonly [Kind in Of[Tag] & string]: Some },
): Lasting<Of> => {
  const all = Object.entries<Some>(kinds);
  const forms = new Map<unknown, Some>(all);
  return {
    shape: shapes.byTag(tag, Object.fromEntries(all.map(([kind, { shape }]) => [kind, shape]))),
    // The value has the form of its kind, by which it was checked. Of any other value only the tag is left.
    redact: (value) => (forms.get(value[tag])?.redact?.(value as never) ?? { [tag]: value[tag] }) as Of,
  };
};
