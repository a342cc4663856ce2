-- What a firing claimed of its account, where its block is short until another one confirms it.
ALTER TABLE account_block ADD COLUMN claim TEXT;
