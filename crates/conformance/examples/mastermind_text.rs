//! The mastermind text game. `docs/mastermind.md#the-dialogue` defines its output, and the words around it are up to
//! you. It needs only the standard library: `rustc mastermind_text.rs`.
#![allow(clippy::print_stdout, reason = "the game is a dialogue")]

use std::{
    hash::{BuildHasher as _, RandomState},
    io::{self, BufRead as _, Write as _},
    process::exit,
};

fn read_answer(prompt: &str) -> io::Result<String> {
    print!("{prompt}");
    io::stdout().flush()?; // buffered output is not visible
    let mut line = Vec::new();
    if io::stdin().lock().read_until(b'\n', &mut line)? == 0 {
        exit(0);
    }
    Ok(String::from_utf8_lossy(&line).trim().to_ascii_lowercase())
}

fn read_yes(prompt: &str) -> io::Result<bool> {
    loop {
        match &*read_answer(&format!("{prompt} YES or NO? "))? {
            "yes" => return Ok(true),
            "no" => return Ok(false),
            _ => println!("That is neither YES nor NO."),
        }
    }
}

/// A random number below this one. The standard library's only random numbers are the keys of hash tables.
fn random(below: usize) -> usize {
    usize::try_from(RandomState::new().hash_one(below) % below as u64).unwrap_or(0)
}

/// Counts exact matches first. Then each remaining digit of the code matches at most one of the guess.
fn feedback(code: &str, guess: &str) -> (usize, usize) {
    let red = code.bytes().zip(guess.bytes()).filter(|(one, other)| one == other).count();
    let count = |of: &str, digit| of.chars().filter(|other| *other == digit).count();
    let shared: usize = ('1'..='8').map(|digit| count(code, digit).min(count(guess, digit))).sum();
    (red, shared - red)
}

fn read_length() -> io::Result<usize> {
    loop {
        match &*read_answer("How long is the code, from 4 to 8? ")? {
            length @ ("4" | "5" | "6" | "7" | "8") => return Ok(length.parse().unwrap_or(4)),
            _ => println!("The length is a whole number from 4 to 8."),
        }
    }
}

fn game() -> io::Result<()> {
    let length = read_length()?;
    let repeats = read_yes("May digits repeat?")?;
    let mut digits: Vec<char> = ('1'..='8').collect();
    let mut draw = |_| if repeats { digits[random(8)] } else { digits.swap_remove(random(digits.len())) };
    let code: String = (0..length).map(&mut draw).collect();
    let (mut turn, mut used, mut shown) = (1, false, vec!['*'; length]);
    while turn <= 10 {
        let grants = |which: usize| !used && turn + which < 10; // it takes a turn more, and one is for a guess
        println!("Turn #: {turn}");
        for which in [1, 2] {
            println!("lifeline#{which}: {}", if grants(which) { "AVAILABLE" } else { "USED UP" });
        }
        println!("Code  : {}", shown.iter().collect::<String>());
        let answer = read_answer("Guess : ")?;
        let place = random(length);
        let digit = code.chars().nth(place).unwrap_or_default();
        match &*answer {
            "lifeline#1" | "lifeline#2" => {
                let which = if answer.ends_with('1') { 1 } else { 2 };
                if !grants(which) {
                    println!("There is no {answer} now.");
                    continue;
                }
                println!("Your {answer}:");
                if which == 1 {
                    println!("the code has a {digit}.");
                } else {
                    println!("the code has a {digit} at position {}.", place + 1);
                    shown[place] = digit;
                }
                (turn, used) = (turn + 1 + which, true);
            }
            guess if guess.len() == length && guess.chars().all(|digit| matches!(digit, '1'..='8')) => {
                let (red, white) = feedback(&code, guess);
                println!("Red: {red}\nWhite: {white}");
                if red == length {
                    println!("You have found it.");
                    return Ok(());
                }
                turn += 1;
            }
            _ => println!("Type {length} digits from 1 to 8, or lifeline#1 or lifeline#2."),
        }
    }
    println!("You lose. Code: {code}");
    Ok(())
}

fn main() -> io::Result<()> {
    game()?;
    while read_yes("Another game?")? {
        game()?;
    }
    Ok(())
}
