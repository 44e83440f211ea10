/** Names and the UUIDs that stand for them; the same in every run, so that a failure can be repeated. */
export class Names {
  readonly #ids = new Map<string, string>();
  readonly #names = new Map<string, string>();
  #next = 0;

  /** Ids rise in the order of their making. */
  newId = (): string => `00000000-0000-4000-8000-${String(++this.#next).padStart(12, "0")}`;

  bind(name: string, id: string): string {
    this.#ids.set(name, id);
    this.#names.set(id, name);
    return id;
  }

  idOf = (name: string): string => this.#ids.get(name) ?? this.bind(name, this.newId());

  nameOf = (id: unknown): string => {
    const name = this.#names.get(String(id));
    if (name === undefined) throw new Error(`nobody has the name of ${id}`);
    return name;
  };
}
