import {
  isCount,
  isObject,
  type Json,
  type JsonObject,
  type ValueProblem,
  within,
  wrong,
} from "../../thread/plain-data.ts";

/** Returns what is wrong with a value, or null. It allocates nothing for a valid value, so it is fast. */
export type Shape = (value: unknown) => ValueProblem | null;

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

interface Some {
  readonly shape: Shape;
  readonly redact: ((value: never) => unknown) | undefined;
}

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

export const replaced = <Value>({ shape }: Form<Value>, by: Value): Lasting<Value> => ({ shape, redact: () => by });

export const shaped = <Value>(shape: Shape): Form<Value> => ({ shape, redact: undefined });

const checked = <Value>(isFitting: (value: unknown) => boolean, what: string): Form<Value> =>
  shaped((value) => (isFitting(value) ? null : mustBe(what, value)));

export const text = checked<string>((value) => typeof value === "string", "a text");
/** Accepts any copied value, because copies are plain data. */
export const json = checked<Json>((value) => value !== undefined, "a JSON value");
export const jsonObject = checked<JsonObject>(isObject, "an object");
export const bool = keep(checked<boolean>((value) => typeof value === "boolean", "true or false"));
export const number = keep(checked<number>(Number.isFinite, "a number"));
export const count = keep(checked<number>(isCount, "a whole number of 0 or more"));
export const mark = keep(checked<true>((value) => value === undefined || value === true, "true, or absent"));

/** A text with content. An empty one stays empty, since that is part of the structure. */
export const words: Lasting<string> = { ...text, redact: (value) => (value === "" ? "" : redactedText) };

/** A provider's value, which stays if it looks like a name. A sentence is redacted. */
export const nameOrWords: Lasting<string> = {
  ...text,
  redact: (value) => (/^[\w.:-]{0,64}$/.test(value) ? value : redactedText),
};

export const oneOf = <const Known extends string | number>(...values: readonly Known[]): Lasting<Known> => {
  const known: ReadonlySet<unknown> = new Set(values);
  const which = values.map((value) => JSON.stringify(value)).join(", ");
  return keep(checked<Known>((value) => known.has(value), values.length === 1 ? which : `one of ${which}`));
};

/** The member that names the kind of an object. `byTag` has checked it. */
export const tag = <const Kind extends string>(_: Kind): Lasting<Kind> => keep(shaped(() => null));

export const optional = <Value>({ shape, redact }: Form<Value>): Optional<Value> => ({
  shape: (value) => (value === undefined ? null : shape(value)),
  redact,
  optional: true,
});

export const nullable = <Value>({ shape, redact }: Lasting<Value>): Lasting<Value | null> => ({
  shape: (value) => (value === null ? null : shape(value)),
  redact: (value) => (value === null ? null : redact(value)),
});

export const list = <Item>({ shape, redact }: Lasting<Item>): Lasting<readonly Item[]> => ({
  shape: (value) => {
    if (!Array.isArray(value)) return mustBe("a list", value);
    for (let index = 0; index < value.length; index++) {
      const problem = shape(value[index]);
      if (problem !== null) return within(index, problem);
    }
    return null;
  },
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

export const textOr = <Value>(form: Lasting<Value>): Lasting<string | Value> =>
  either((value) => typeof value === "string", words, form);

/** Adds a rule that the type cannot express. `what` says what the value must be. */
export const ruled = <Value>(
  { shape, redact }: Lasting<Value>,
  isFitting: (value: Value) => boolean,
  what: string,
): Lasting<Value> => ({
  // The rule reads a value that has passed the check.
  shape: (value) => shape(value) ?? (isFitting(value as Value) ? null : mustBe(what, value)),
  redact,
});

/** An object with these members. It may have others: a later version may have written them. */
export const object = <Of extends object>(members: Members<Of>): Lasting<Of> => formOf(members, shapeOf);

/** An object with these members and no others. */
export const closed = <Of extends object>(members: Members<Of>): Lasting<Of> => formOf(members, closedShapeOf);

const formOf = <Of extends object>(members: Members<Of>, toShape: (forms: Forms) => Shape): Lasting<Of> => {
  const forms: { readonly [name: string]: Some } = members;
  return {
    shape: toShape(forms),
    redact: (value) => {
      const left: { [name: string]: unknown } = {};
      for (const [name, { redact }] of Object.entries(forms)) {
        // The form is that of the member with its name.
        const member = value[name as keyof Of] as never;
        if (redact !== undefined && member !== undefined) left[name] = redact(member);
      }
      // By their type, the forms keep every required member.
      return left as Of;
    },
  };
};

interface Forms {
  readonly [name: string]: Pick<Some, "shape">;
}

/** Checks the members of an object; others are ignored. */
export const shapeOf = (forms: Forms): Shape => {
  const members = Object.entries(forms).map(([name, { shape }]) => ({
    name,
    shape,
    mayLack: shape(undefined) === null,
  }));
  return (value) => {
    if (!isObject(value)) return mustBe("an object", value);
    // Runs for each event, so it makes no iterator, and calls nothing for the many members that are absent.
    for (let index = 0; index < members.length; index++) {
      const member = members[index];
      const given = member === undefined ? undefined : value[member.name];
      if (member === undefined || (given === undefined && member.mayLack)) continue;
      const problem = member.shape(given);
      if (problem !== null) return within(member.name, problem);
    }
    return null;
  };
};

/** Looks only at the members that exist, since most of the many possible ones are absent. */
const closedShapeOf = (forms: Forms): Shape => {
  const members = new Map(Object.entries(forms));
  const required = Object.keys(forms).filter((name) => members.get(name)?.shape(undefined) !== null);
  return (value) => {
    if (!isObject(value)) return mustBe("an object", value);
    for (const name in value) {
      const member = members.get(name);
      if (member === undefined) return wrong(`has a member ${name}`);
      const problem = member.shape(value[name]);
      if (problem !== null) return within(name, problem);
    }
    const missing = required.find((name) => value[name] === undefined);
    return missing === undefined ? null : within(missing, mustBe("given", undefined));
  };
};

/** An object whose kind is named by one of its members. Each kind needs a form. */
export const byTag = <Of extends object, Tag extends keyof Of>(
  tag: Tag & string,
  kinds: { readonly [Kind in Of[Tag] & string]: Some },
): Lasting<Of> => {
  const forms = new Map<unknown, Some>(Object.entries<Some>(kinds));
  const known = oneOf(...Object.keys(kinds));
  return {
    shape: (value) => {
      if (!isObject(value)) return mustBe("an object", value);
      const form = forms.get(value[tag]);
      if (form !== undefined) return form.shape(value);
      const problem = known.shape(value[tag]);
      return problem === null ? null : within(tag, problem);
    },
    // The value has the form of its kind, by which it was checked. Of any other value only the tag is left.
    redact: (value) => (forms.get(value[tag])?.redact?.(value as never) ?? { [tag]: value[tag] }) as Of,
  };
};

export const mustBe = (what: string, value: unknown): ValueProblem => wrong(`must be ${what} (got ${glimpse(value)})`);

/** Returns a short value itself, otherwise its kind. Never throws. */
export const glimpse = (value: unknown): string => {
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.length > mostShown ? `${value.slice(0, mostShown)}…` : value);
    case "object":
      return value === null ? "null" : "an object";
    case "function":
    case "symbol":
      return `a ${typeof value}`;
    default:
      return String(value);
  }
};

const mostShown = 40;
