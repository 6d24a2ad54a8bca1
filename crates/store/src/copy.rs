//! Copies all stored data into another database, of the same kind or the other.
//!
//! The tables and columns are derived from the migrations, so later versions need no change here. Rows are copied in
//! pages by their primary keys; correct ones are skipped, so an interrupted copy resumes. The target must have no other
//! rows, so no data is lost if an operator confuses the two directions.

use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};

use crate::{
    Store, StoreError,
    connection::{Connection, Row, Value},
    database::{MIGRATIONS, migrator},
};

/// Rows per statement. Each has about ten values, and SQLite searches all values for each one, so more rows take
/// longer.
const PAGE: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    pub table: String,
    /// The same in both databases.
    pub rows: u64,
    /// Missing or different before.
    pub new: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Integer,
    Real,
    Text,
}

#[derive(Debug)]
struct Column {
    name: String,
    of: Type,
    // The position in the primary key, from 1.
    key: i64,
}

#[derive(Debug)]
struct Table {
    name: String,
    columns: Vec<Column>,
}

#[derive(Debug, Clone)]
enum Cell {
    Integer(Option<i64>),
    Real(Option<f64>),
    Text(Option<String>),
}

impl Cell {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Integer(number) => Value::Integer(*number),
            Self::Real(number) => Value::Real(*number),
            Self::Text(text) => Value::Text(text.as_deref()),
        }
    }
}

impl Store {
    /// Creates the tables of the target if it has none.
    ///
    /// # Errors
    /// If either database is unreachable or of a later version, if the target has rows that are not in this database,
    /// or if the row counts differ at the end. Rows that were copied before an error remain, and the next copy resumes
    /// after them.
    pub async fn copy_to(&self, to: &Self) -> Result<Vec<Copied>, StoreError> {
        self.prepare().await?;
        to.prepare().await?;
        let tables = tables().await?;
        let (mut from, mut to) = (self.whole().await?, to.whole().await?);
        from.begin_reading().await?;
        for table in &tables {
            table.check(&mut from, &mut to).await?;
        }
        let mut copied = vec![];
        for table in &tables {
            let new = table.copy(&mut from, &mut to).await?;
            let (there, here) = (table.count(&mut from).await?, table.count(&mut to).await?);
            if there != here {
                return Err(StoreError::Differs { table: table.name.clone(), from: there, to: here });
            }
            copied.push(Copied { table: table.name.clone(), rows: here, new });
        }
        from.close().await;
        to.close().await;
        Ok(copied)
    }
}

/// Tables that refer to others come last.
async fn tables() -> Result<Vec<Table>, StoreError> {
    let mut memory = SqliteConnection::connect("sqlite::memory:").await?;
    migrator(&MIGRATIONS).run_direct(None, &mut memory, false).await.map_err(StoreError::Migrate)?;
    let text = "SELECT m.name, c.name, c.type, c.pk FROM sqlite_master m JOIN pragma_table_info(m.name) c \
                WHERE m.type = 'table' AND substr(m.name, 1, 5) <> '_sqlx' AND substr(m.name, 1, 7) <> 'sqlite_' \
                ORDER BY EXISTS (SELECT 1 FROM pragma_foreign_key_list(m.name)), m.name, c.cid";
    let mut tables: Vec<Table> = vec![];
    for row in sqlx::query(text).fetch_all(&mut memory).await? {
        let (table, name): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let of = match row.try_get::<String, _>(2)?.as_str() {
            "BIGINT" => Type::Integer,
            "DOUBLE PRECISION" => Type::Real,
            _ => Type::Text,
        };
        let column = Column { name, of, key: row.try_get(3)? };
        match tables.last_mut().filter(|last| last.name == table) {
            Some(last) => last.columns.push(column),
            None => tables.push(Table { name: table, columns: vec![column] }),
        }
    }
    Ok(tables)
}

impl Table {
    fn key(&self) -> Vec<&Column> {
        let mut key: Vec<_> = self.columns.iter().filter(|column| column.key > 0).collect();
        key.sort_by_key(|column| column.key);
        key
    }

    async fn check(&self, from: &mut Connection, to: &mut Connection) -> Result<(), StoreError> {
        let key = self.key();
        let (mut last, mut foreign) = (vec![], 0);
        loop {
            let page = self.page(to, &key, &last).await?;
            let Some(end) = page.last() else { break };
            last.clone_from(end);
            let rows = places(page.len(), key.len());
            let text = format!("SELECT COUNT(*) FROM {} WHERE ({}) IN (VALUES {rows})", self.name, names(&key));
            let values: Vec<_> = page.iter().flatten().map(Cell::value).collect();
            let known = from.row(AssertSqlSafe(text), &values).await?.map_or(Ok(0), |row| row.number(0))?;
            foreign += (page.len() as u64).saturating_sub(known);
        }
        if foreign > 0 {
            return Err(StoreError::Foreign { table: self.name.clone(), rows: foreign });
        }
        Ok(())
    }

    async fn copy(&self, from: &mut Connection, to: &mut Connection) -> Result<u64, StoreError> {
        let (all, key): (Vec<&Column>, _) = (self.columns.iter().collect(), self.key());
        let rest: Vec<_> = all.iter().filter(|column| column.key == 0).map(|column| &column.name).collect();
        let set: Vec<_> = rest.iter().map(|name| format!("{name} = excluded.{name}")).collect();
        let differs: Vec<_> =
            rest.iter().map(|name| format!("{}.{name} IS DISTINCT FROM excluded.{name}", self.name)).collect();
        let then = if rest.is_empty() {
            "NOTHING".to_owned()
        } else {
            format!("UPDATE SET {} WHERE {}", set.join(", "), differs.join(" OR "))
        };
        let (mut last, mut new) = (vec![], 0);
        loop {
            let page = self.page(from, &all, &last).await?;
            let Some(end) = page.last() else { return Ok(new) };
            last = key.iter().filter_map(|wanted| self.cell(end, wanted)).collect();
            let text = format!(
                "INSERT INTO {} ({}) VALUES {} ON CONFLICT ({}) DO {then}",
                self.name,
                names(&all),
                places(page.len(), all.len()),
                names(&key)
            );
            let values: Vec<_> = page.iter().flatten().map(Cell::value).collect();
            new += to.execute(AssertSqlSafe(text), &values).await?;
        }
    }

    fn cell(&self, row: &[Cell], wanted: &Column) -> Option<Cell> {
        let index = self.columns.iter().position(|column| column.name == wanted.name)?;
        row.get(index).cloned()
    }

    async fn page(
        &self,
        at: &mut Connection,
        columns: &[&Column],
        last: &[Cell],
    ) -> Result<Vec<Vec<Cell>>, StoreError> {
        let key = names(&self.key());
        let after = if last.is_empty() { String::new() } else { format!("WHERE ({key}) > {}", places(1, last.len())) };
        let text = format!("SELECT {} FROM {} {after} ORDER BY {key} LIMIT {PAGE}", names(columns), self.name);
        let values: Vec<_> = last.iter().map(Cell::value).collect();
        let rows = at.rows(AssertSqlSafe(text), &values).await?;
        rows.iter()
            .map(|row| columns.iter().enumerate().map(|(index, column)| read(row, index, column.of)).collect())
            .collect()
    }

    async fn count(&self, at: &mut Connection) -> Result<u64, StoreError> {
        let text = format!("SELECT COUNT(*) FROM {}", self.name);
        at.row(AssertSqlSafe(text), &[]).await?.map_or(Ok(0), |row| row.number(0))
    }
}

fn read(row: &Row, index: usize, of: Type) -> Result<Cell, StoreError> {
    Ok(match of {
        Type::Integer => Cell::Integer(row.get(index)?),
        Type::Real => Cell::Real(row.get(index)?),
        Type::Text => Cell::Text(row.get(index)?),
    })
}

fn names(columns: &[&Column]) -> String {
    columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
}

// Formats placeholders such as `($1, $2), ($3, $4)`.
fn places(rows: usize, columns: usize) -> String {
    let row = |row: usize| {
        let places: Vec<_> = (1..=columns).map(|column| format!("${}", row * columns + column)).collect();
        format!("({})", places.join(", "))
    };
    (0..rows).map(row).collect::<Vec<_>>().join(", ")
}
