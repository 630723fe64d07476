// An older TypeScript is given this file instead of the types, and says that it is not a module.
