-- Where the number of a firing's process means something: a boot, and a namespace of processes in it.
ALTER TABLE firing ADD COLUMN pid_space TEXT;
