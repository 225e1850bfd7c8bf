import { answerQuestions } from "../kit/threads.ts";
import { type FaultName, faults } from "./faults.ts";
import { type SceneName, scenes } from "./scene.ts";
import { Search, type Visited } from "./search.ts";

/** A request to a thread about a scene. */
export interface Task {
  readonly scene: SceneName;
  readonly bound: number;
  readonly fault: FaultName | null;
  /** `first`: follow the schedule without a departure. `visit`: all that begin so. `states`: say what was reached. */
  readonly what: { readonly first: true } | { readonly visit: readonly number[] } | { readonly states: true };
}

export interface Done {
  readonly visited: Visited;
  /** The parts that the schedule without a departure leaves to be visited. */
  readonly parts: readonly (readonly number[])[];
  /** The keys of the states that this thread reached. */
  readonly states: Float64Array<ArrayBuffer>;
}

/** The searches of this thread. Each keeps what it has seen, from one part of its scene to the next. */
const searches = new Map<string, Search>();

const work = async ({ scene, bound, fault, what }: Task): Promise<Done> => {
  const name = `${scene} ${bound} ${fault ?? ""}`;
  const search = searches.get(name) ?? new Search(scenes[scene], bound, fault === null ? undefined : faults[fault]);
  searches.set(name, search);
  const nothing = { visited: noVisits, parts: [], states: new Float64Array(0) };
  if ("visit" in what) return { ...nothing, visited: await search.visit(what.visit) };
  if ("states" in what) {
    searches.delete(name);
    return { ...nothing, states: search.states };
  }
  const { open, path, violation } = await search.schedule([]);
  return { ...nothing, parts: open, visited: { schedules: 1, pruned: 0, steps: path.length, violation } };
};

const noVisits: Visited = { schedules: 0, pruned: 0, steps: 0, violation: null };

answerQuestions(work);
