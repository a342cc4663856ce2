//! Rows as both databases give them.

/// A row: each field is the column of its name.
macro_rules! row {
    (
        $(#[$attribute:meta])*
        $seen:vis struct $name:ident {
            $($(#[$of_field:meta])* $field_seen:vis $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$attribute])*
        $seen struct $name {
            $($(#[$of_field])* $field_seen $field: $type,)*
        }

        impl<'r, R: sqlx::Row> sqlx::FromRow<'r, R> for $name
        where
            &'static str: sqlx::ColumnIndex<R>,
            $($type: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,)*
        {
            fn from_row(row: &'r R) -> Result<Self, sqlx::Error> {
                Ok(Self {
                    $($field: row.try_get(stringify!($field))?,)*
                })
            }
        }
    };
}

pub(crate) use row;
